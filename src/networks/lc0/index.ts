export { hasNetworkHead } from './container.js';
export { describeNetworkFile, formatDescription } from './describe.js';
export { type Int8Network, loadInt8Network, readInt8Report } from './int8-network.js';
export { convertLeelaToOnnx, type Leela2OnnxOptions } from './leela2onnx.js';
export { LARGE_WEIGHT_BYTES, type Lc0LoadOptions, type Lc0Network, loadLc0Network } from './load.js';
export { InputFormat, MovesLeftFormat, PolicyFormat, ValueFormat } from './net-schema.js';
export { type Onnx2LeelaOptions, wrapOnnxModel } from './onnx2leela.js';
export { rebuildOnnx } from './rebuild-onnx.js';
