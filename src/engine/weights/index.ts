/** The door of weights/: which network the options name, where its file is, and downloads. */

export { type BundledNetwork, findBundledNetwork, getNetworkName, listBundledNetworks } from './bundled-networks.js';
export { listDiscoveryFolders, listNetworks } from './discover-network.js';
export {
  type DownloadWatcher,
  describeDownload,
  downloadFile,
  downloadNetwork,
  identifyFile,
  obtainNetwork,
} from './download.js';
export {
  type CataloguedNetwork,
  findRemoteNetwork,
  isDownloaded,
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
export { fetchThroughProxy } from './proxied-fetch.js';
