/**
 * The third verb, evaluate, as far as the search does it: sends a leaf to the evaluators as the path that leads to it.
 * `expand.ts` reads the answer. Sending never waits: the caller asks `findRoom` first.
 */

import type { VisitPath } from '../tree/visit-list.js';
import type { LeafChannel } from './leaf-channel.js';

export class LeafSender {
  private readonly channel: LeafChannel;
  private readonly rootRow: number;

  constructor(channel: LeafChannel, rootRow: number) {
    this.channel = channel;
    this.rootRow = rootRow;
  }

  /** Number of leaves that can be sent now. */
  findRoom(): number {
    if (this.channel.freeSlotCount === 0) this.channel.reclaim();
    return this.channel.freeSlotCount;
  }

  /** The longest path that evaluators accept, in plies. */
  get maxDepth(): number {
    return this.channel.maxPathLength;
  }

  /** Submits a leaf; evaluators may see it only after `flush`. @returns the slot that will hold the answer */
  send(path: VisitPath, length: number): number {
    const channel = this.channel;
    const slot = channel.acquire();
    const to = slot * channel.maxPathLength;
    const moves = channel.pathMoves;
    for (let i = 0; i < length; i++) moves[to + i] = path.moves[i];
    channel.setPath(slot, this.rootRow, length);
    channel.submit(slot);
    return slot;
  }

  flush(): void {
    this.channel.flush();
  }
}
