/** The part of nn's LeafQueue that the search uses; tests implement it without threads. */
import type { LeafQueue } from '../../nn/leaves.js';

export type LeafChannel = Pick<
  LeafQueue,
  | 'maxPathLength'
  | 'hasMovesLeft'
  | 'freeSlotCount'
  | 'liveEvaluators'
  | 'acquire'
  | 'release'
  | 'abandon'
  | 'reclaim'
  | 'isRootInUse'
  | 'pathMoves'
  | 'setPath'
  | 'submit'
  | 'flush'
  | 'isDone'
  | 'kind'
  | 'flags'
  | 'valueWl'
  | 'valueD'
  | 'movesLeft'
  | 'edgeCount'
  | 'keyLow'
  | 'keyHigh'
  | 'tag'
  | 'edgeMoves'
  | 'edgePriors'
  | 'event'
  | 'waitForEvent'
> & { readonly roots: Pick<LeafQueue['roots'], 'write'> };
