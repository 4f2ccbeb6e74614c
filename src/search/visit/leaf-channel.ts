/**
 * The second verb, evaluate, as far as the search does it: `LeafSender` sends a leaf to the evaluators as the path that leads to it.
 * `expand.ts` reads the answer. Sending never waits: the caller asks `findRoom` first.
 */
import type { LeafColumns, LeafQueue } from '../../networks/leaves/index.js';
import type { VisitPath } from '../tree/visit-list.js';

/** The part of nn's LeafQueue that the search uses; tests implement it without threads. */
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
  | 'setPath'
  | 'submit'
  | 'flush'
  | 'isDone'
> & { readonly roots: Pick<LeafQueue['roots'], 'write'>; readonly columns: LeafColumns };

export class LeafSender {
  constructor(
    private readonly channel: LeafChannel,
    private readonly rootRow: number,
  ) {}

  /** Number of leaves that can be sent now. */
  findRoom(): number {
    if (this.channel.freeSlotCount === 0) this.channel.reclaim();
    return this.channel.freeSlotCount;
  }

  /** The longest path that evaluators accept, in plies. */
  get maxDepth(): number {
    return this.channel.maxPathLength;
  }

  /**
   * Submits a leaf; evaluators may see it only after the channel's `flush`.
   * @param isPrefetch only for the evaluation cache
   * @returns the slot that will hold the answer
   */
  send(path: VisitPath, length: number, isPrefetch = false): number {
    const channel = this.channel;
    const slot = channel.acquire();
    const to = slot * channel.maxPathLength;
    const moves = channel.columns.pathMoves;
    for (let i = 0; i < length; i++) moves[to + i] = path.moves[i];
    channel.setPath(slot, this.rootRow, length, isPrefetch);
    channel.submit(slot);
    return slot;
  }
}
