/** The door of web/: what the Workers of a page with an engine share. The door of the npm package for pages is create-engine.ts. */
export { createPageOptions, createPagePool, createPagePorts, findObstacle } from './page-network.js';
export {
  type DownloadWatch,
  describeProgress,
  keepNetwork,
  listKeptNetworks,
  listProvidedNetworks,
  readNetworkFile,
  removeKeptNetwork,
} from './stored-networks.js';
