/** The door of cli/: the concrete engine, for the library door of the package. Commands stay inside. */
export { enginePorts } from './engine-ports.js';
export { createOptionStore } from './option-list.js';
