/**
 * The door of app/: the concrete engine, composed of every room below, for the command line, the library door of the package
 * and the board. `options.ts` is the light door, for what must start fast.
 */
export { type BundledNetwork, findBundledNetwork, getNetworkName, listBundledNetworks } from './bundled-networks.js';
export { findDefaultConfigs } from './config-file.js';
export { listDiscoveryFolders, listNetworks } from './discover-networks.js';
export { type Download, downloadFile, identifyFile } from './download.js';
export { createEngineHost, getDefaultPoolSize } from './engine-process-client.js';
export {
  createNetwork,
  createPoolOptions,
  createSpareOptions,
  enginePorts,
  warnOfTables,
} from './evaluator-network.js';
export { type CataloguedNetwork, NETWORK_CATALOGUE } from './network-catalogue.js';
export {
  type DownloadWatcher,
  describeDownload,
  downloadNetwork,
  findRemoteNetwork,
  isDownloaded,
  obtainNetwork,
  type RemoteNetwork,
} from './network-download.js';
export { findModel, isFileless, readBuiltIn, resolveNetworkFile, selectBundledNetwork } from './network-file.js';
export { type Candidate, CLEAR_LEAD_ELO, type NetworkSelection } from './network-selection.js';
export { fetchThroughProxy } from './proxy-fetch.js';
export { describeMachine } from './speed-store.js';
export {
  createTuningKey,
  findTuning,
  getTuningPath,
  isTunable,
  readTunings,
  type SpeedSettings,
  saveTuning,
} from './tuned-settings.js';
