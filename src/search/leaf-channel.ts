/** What the search needs of nn's LeafQueue, as a type of its own so that tests can give it a fake. */
import type { LeafQueue } from '../nn/index.js';

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
