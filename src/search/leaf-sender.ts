/**
 * The third verb, its sending half: a leaf goes to the evaluators as the path that leads to it. The answer is read by
 * `expand.ts`. It refuses to wait: whoever gathers asks `findRoom` first.
 */
import type { LeafChannel } from './leaf-channel.js';
import type { VisitPath } from './tree/visit-list.js';

export class LeafSender {
  private readonly channel: LeafChannel;
  private readonly rootRow: number;

  constructor(channel: LeafChannel, rootRow: number) {
    this.channel = channel;
    this.rootRow = rootRow;
  }

  /** Leaves that can be sent now. */
  findRoom(): number {
    if (this.channel.freeSlotCount === 0) this.channel.reclaim();
    return this.channel.freeSlotCount;
  }

  /** Longest path the evaluators accept. */
  get maxDepth(): number {
    return this.channel.maxPathLength;
  }

  /** Hands over a leaf; evaluators may see it after `flush`. @returns the slot its answer will be in */
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
