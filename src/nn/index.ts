export { isFilelessBackend } from './backend/backend-names.js';
export { getBackendName, type TunedSpeed } from './backend/backend-plan.js';
export { type NetworkChoice, parseNetworkChoice } from './backend/network-choice.js';
export { type BackendBenchRow, runBackendBench } from './backend-bench.js';
export { decodePrior, encodePrior } from './edge-priors.js';
export { runOnCpu } from './evaluators/onnx-session.js';
export type { ModelEdition } from './model/model-file.js';
export { loadModel, type Model, type ModelSource, readPrecision } from './model/model-file.js';
export type { TensorDescription } from './model/onnx-header.js';
export { findTensors, getWidth, LC0_TENSOR_NAMES, type TensorRoles } from './model/tensor-roles.js';
export { computeOcclusion, type Occlusion, type Opinion } from './occlusion.js';
export { EvaluatorPool, type PoolOptions } from './pool/evaluator-pool.js';
export { LeafQueue, setRoot, wakeProducer } from './pool/leaf-queue.js';
export {
  CHECKMATE,
  DRAW,
  EVALUATED,
  FAILED,
  FLAG_CACHE_HIT,
  FLAG_OF_PATH,
  MATE_IN_ONE,
  MAX_EDGES,
  NO_SLOT,
  TABLEBASE,
  TWO_FOLD,
} from './pool/leaf-slots.js';
export { getTagPly } from './pool/node-tag.js';
export { MAX_ROOT_MOVES, ROOT_ROWS, type RootPosition } from './pool/root-table.js';
export type { SharedPoolHandle } from './pool/worker-protocol.js';
