/** What a thread needs to take part in a pool; it survives structured cloning, so it travels in messages. */
import type { LeafSlotsShape } from './leaf-slots.js';

export interface SharedPoolHandle extends LeafSlotsShape {
  readonly slots: SharedArrayBuffer;
  readonly roots: SharedArrayBuffer;
  readonly tablebases: SharedArrayBuffer;
  /** Positions an evaluator puts into one network call, when the pool was made. */
  readonly minibatch: number;
  /** Minibatches that a search should keep under way; 0 = one more than the evaluators. */
  readonly batchesInFlight: number;
  /** False: `movesLeft` of evaluated leaves is always 0. */
  readonly hasMovesLeft: boolean;
}
