/**
 * The door of app/: the concrete engine, composed of every room below, for the command line, the npm package (src/index.ts)
 * and the board. `options.ts` is the light door, for what must start fast.
 */

export { findDefaultConfigs } from './config-files.js';
export { createEngineHost } from './engine-process-client.js';
export {
  createPoolOptions,
  createSpareOptions,
  enginePorts,
  warnOfTables,
} from './evaluator-network.js';
