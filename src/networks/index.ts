/** The door of networks/: which network the options name, where its file is, downloads, measured speeds and tuned settings. */
export { type BundledNetwork, findBundledNetwork, getNetworkName, listBundledNetworks } from './bundled-networks.js';
export { listDiscoveryFolders, listNetworks } from './discover-networks.js';
export { type Download, downloadFile, identifyFile } from './download.js';
export type { RemoteNetwork } from './network-catalogue.js';
export { type CataloguedNetwork, findRemoteNetwork, isDownloaded, NETWORK_CATALOGUE } from './network-catalogue.js';
export { type DownloadWatcher, describeDownload, downloadNetwork, obtainNetwork } from './network-download.js';
export {
  BUILT_IN,
  describeInt8,
  findModel,
  isFileless,
  loadNetwork,
  needsMeasuredLevels,
  type ResolvedNetwork,
  readNetwork,
  resolveNetwork,
  selectBundledNetwork,
} from './network-file.js';
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
