export { hasNetworkHead } from './container.js';
export {
  type DescriptionSection,
  describeNetworkFile,
  formatDescription,
  type NetworkDescription,
} from './describe.js';
export { type ExactEditions, type Int8Network, loadInt8Network, readInt8Report } from './int8-network.js';
export type { Lc0NetworkInfo } from './lc0-network-info.js';
export {
  convertLeelaToOnnx,
  LARGE_WEIGHT_BYTES,
  type Lc0LoadOptions,
  type Lc0Network,
  type Leela2OnnxOptions,
  loadLc0Network,
  rebuildOnnx,
} from './load.js';
export { InputFormat, MovesLeftFormat, PolicyFormat, ValueFormat } from './net-schema.js';
export { type Onnx2LeelaOptions, wrapOnnxModel } from './onnx2leela.js';
