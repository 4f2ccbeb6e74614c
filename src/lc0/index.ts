export { hasNetworkHead } from './container.js';
export {
  type DescriptionSection,
  describeNetwork,
  formatDescription,
  type NetworkDescription,
} from './describe.js';
export type { Lc0NetworkInfo } from './lc0-network-info.js';
export { convertLeelaToOnnx, type Leela2OnnxOptions } from './leela2onnx.js';
export { LARGE_WEIGHT_BYTES, type Lc0LoadOptions, type Lc0Network, loadLc0Network } from './load.js';
export { InputFormat, MovesLeftFormat, PolicyFormat, ValueFormat } from './net-enums.js';
export { type Onnx2LeelaOptions, wrapOnnxModel } from './onnx2leela.js';
export { rebuildOnnx } from './rebuild-onnx.js';
