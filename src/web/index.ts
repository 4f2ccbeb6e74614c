/** The door of web/: what the Workers of a page with an engine share. The door of the npm package for pages is create-engine.ts. */
export { createPageOptions, findObstacle } from './page-engine.js';
export { createPagePool, pagePorts } from './page-network.js';
export { keepNetwork, listKeptNetworks, listProvidedNetworks, readNetworkFile } from './stored-networks.js';
