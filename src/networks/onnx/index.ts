/** The door of onnx/: the toolkit of ONNX graphs, for our own networks and lc0's: read, recognise, build, change, cut. */

export { cutBehindBody, takeBody } from './edit/cut-body.js';
export {
  addAlias,
  findInput,
  findOutput,
  insertBeforeOutput,
  insertBehindInput,
  listNames,
} from './edit/graph-edit.js';
export { halveModel } from './edit/half-precision.js';
export { BUILDER_VERSION, type BuildOptions, DEFAULT_BUILD_OPTIONS, draftOnnx } from './graph/build-onnx.js';
export { findChannelBlock, suitsChannelBlock } from './graph/channel-block.js';
export {
  type Activation,
  type AttentionBody,
  type ConvolutionBody,
  type ConvolutionLayer,
  type DenseLayer,
  EMBEDDED_PLANES,
  type EncoderLayer,
  type FeedForward,
  fromFloats,
  INPUT_PLANES,
  type LayerNorm,
  type MovesLeftHead,
  materialise,
  type NetworkPlan,
  type PolicyHead,
  type PositionEncoding,
  type Reduction,
  type Smolgen,
  scaleRows,
  type TensorSource,
  type ValueHead,
} from './graph/network-layers.js';
export { getWeightBytes, writeModel, writeModelWithWeightsFile } from './graph/write-model.js';
export { countValues, hasExternalTensors } from './onnx-model.js';
export { CONVOLUTION_POLICY_PLANES } from './policy-maps.js';
export { type Difference, quantiseModel } from './quantise/quantise-model.js';
export { createSpeedSample } from './quantise/sample-positions.js';
export { type FileSource, hashFile, NetworkError, readInflated } from './read-file.js';
export { type Affine, GraphReader, Unrecognised } from './recognise/graph-reader.js';
export {
  type RecognisedBody,
  type RecognisedPolicy,
  type RecognisedTop,
  recogniseBody,
  recogniseMovesLeft,
  recognisePolicy,
  recogniseValue,
} from './recognise/recognise-parts.js';
