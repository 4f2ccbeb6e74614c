/**
 * The second verb, evaluate, as far as the search does it: it sends a leaf to the evaluators as the path that leads to it, and
 * `expand.ts` reads the answer. Sending never waits: the search asks `findRoom` first.
 */
import type { LeafColumns, LeafQueue } from '../../networks/leaves/index.js';

/** The part of nn's LeafQueue that the search uses; tests implement it without threads. */
export type LeafChannel = Pick<
  LeafQueue,
  'hasMovesLeft' | 'liveEvaluators' | 'findRoom' | 'send' | 'release' | 'abandon' | 'isRootInUse' | 'flush' | 'isDone'
> & { readonly roots: Pick<LeafQueue['roots'], 'write'>; readonly columns: LeafColumns };
