/** The door of nn/: model files and metadata, backends, evaluation cache, and the pool of evaluator threads. */

export { isFilelessBackend } from './backend/backend-names.js';
export {
  type BackendPlan,
  getBackendName,
  getNetworkPlan,
  planBackend,
} from './backend/backend-plan.js';
export { type NetworkChoice, parseNetworkChoice } from './backend/network-choice.js';
export { describeProviderFailure } from './backend/provider-failures.js';
export { type BackendBenchRow, runBackendBench } from './backend-bench.js';
export { evaluatorFactory } from './evaluators/create-evaluator.js';
export type { Evaluator } from './evaluators/evaluator.js';
export { type ExactAnswer, readExactAnswer } from './evaluators/exact-answer.js';
export { addsWidely, openOnCpu, type RunTensor, runOnCpu, runSession } from './evaluators/onnx-sessions.js';
export {
  loadEdition,
  loadModel,
  type Model,
  type ModelEdition,
  type ModelSource,
  readPrecision,
} from './model/model-file.js';
export { findBody } from './model/network-format.js';
export {
  describeHeader,
  isExternal,
  listGraphs,
  type OnnxHeader,
  type TensorDescription,
} from './model/onnx-header.js';
export {
  type AttributeMessage,
  AttributeType,
  decodeModel,
  EXTERNAL_DATA,
  encodeModel,
  findAttribute,
  type GraphMessage,
  getIntegerAttribute,
  getIntegerList,
  graphType,
  type ModelMessage,
  modelType,
  type NodeMessage,
  type ReadModel,
  type TensorMessage,
  tensorType,
  type ValueInfoMessage,
  viewBytes,
} from './model/onnx-messages.js';
export { createMessageTypes, DamagedMessage, type MessageOf, type MessageSpec } from './model/protobuf-messages.js';
export { findTensors, getWidth, LC0_TENSOR_NAMES } from './model/tensor-roles.js';
export { TensorType } from './model/tensor-type.js';
export { EvaluatorPool, type PoolOptions } from './pool/evaluator-pool.js';
