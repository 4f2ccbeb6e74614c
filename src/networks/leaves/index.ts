/**
 * The door of leaves/: the shared memory between a producer of leaves, such as the search thread, and the evaluators. It loads no code
 * that evaluates, because a thread loads its modules anew and `readyok` waits for it.
 */

export { sortEdgesAsLc0 } from './edge-order.js';
export { decodePrior, encodePrior, sortEdges } from './edge-priors.js';
export { LeafClaims } from './leaf-claims.js';
export { countBusyLeaves, LeafQueue, wakeProducer } from './leaf-queue.js';
export {
  CHECKMATE,
  COUNT_BATCHES,
  COUNT_EVALUATIONS,
  COUNT_TERMINALS,
  COUNTERS_PER_WORKER,
  createLeafSlotsBuffer,
  DRAW,
  EVALUATED,
  FAILED,
  FLAG_CACHE_HIT,
  FLAG_OF_PATH,
  type LeafColumns,
  type LeafSlots,
  MAX_EDGES,
  MAX_PATH_LENGTH,
  MINIBATCH_WORD,
  SETTING_HISTORY_FILL,
  SETTING_POLICY_TEMPERATURE,
  type SharedPoolHandle,
  STOP_WORD,
  SUBMITTED_WORD,
  TABLEBASE,
  TWO_FOLD,
  viewLeafSlots,
  WORK_WORD,
} from './leaf-slots.js';
export { LiveEvaluators } from './live-evaluators.js';
export { computeHistoryHash, computeNodeTag, getTagPly } from './node-tag.js';
export { PoolCounters } from './pool-counters.js';
export { RootBoards } from './root-boards.js';
export { MAX_ROOT_MOVES, ROOT_ROWS, type RootPosition, RootTable } from './root-table.js';
