/** The door of weights/: which network the options name, where its file is, downloads, measured speeds and tuned settings. */

export {
  type Download,
  type DownloadWatcher,
  describeDownload,
  downloadFile,
  downloadNetwork,
  fetchThroughProxy,
  identifyFile,
  obtainNetwork,
} from './download.js';
export {
  type BundledNetwork,
  type CataloguedNetwork,
  findBundledNetwork,
  findRemoteNetwork,
  getNetworkName,
  isDownloaded,
  listBundledNetworks,
  listDiscoveryFolders,
  listNetworks,
  NETWORK_CATALOGUE,
  type RemoteNetwork,
} from './network-catalogue.js';
export {
  BUILT_IN,
  describeInt8,
  findModel,
  isBundled,
  isFileless,
  isNetworkName,
  loadNetwork,
  needsMeasuredLevels,
  type ResolvedNetwork,
  readNetwork,
  resolveNetwork,
  selectBundledNetwork,
} from './network-file.js';
export { type Candidate, CLEAR_LEAD_ELO, type NetworkSelection } from './network-selection.js';
export { describeMachine } from './speed-store.js';
export {
  createTuningKey,
  findTuning,
  getTuningPath,
  isFirstTuningHint,
  isTunable,
  readTunings,
  type SpeedSettings,
  saveTuning,
} from './tuned-settings.js';
