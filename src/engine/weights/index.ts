/** The door of weights/: which network the options name, where its file is, and downloads. */

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
} from './network-file.js';
