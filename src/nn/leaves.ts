/**
 * The third, light door of nn/: what a producer of leaves needs, such as the search thread. It loads no code that evaluates,
 * because a thread loads its modules anew and `readyok` waits for it.
 */
export { decodePrior, encodePrior } from './edge-priors.js';
export { countBusyLeaves, LeafQueue, wakeProducer } from './pool/leaf-queue.js';
export {
  CHECKMATE,
  DRAW,
  EVALUATED,
  FAILED,
  FLAG_CACHE_HIT,
  FLAG_OF_PATH,
  getTagPly,
  type LeafColumns,
  MATE_IN_ONE,
  MAX_EDGES,
  NO_SLOT,
  type SharedPoolHandle,
  TABLEBASE,
  TWO_FOLD,
} from './pool/leaf-slots.js';
export { MAX_ROOT_MOVES, ROOT_ROWS, type RootPosition } from './pool/root-table.js';
