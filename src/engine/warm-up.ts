/**
 * The first search of a process is slow, because code is compiled and memory touched; it should not be on a clock. So each
 * network first gets a silent search of the start position. The engine starts and ends it; a `go` may cut it short.
 */
import { unwrap } from '../util/index.js';
import type { ActiveSearch } from './active-search.js';
import { createGamePosition } from './game-position.js';
import type { GoRequest } from './go-request.js';
import type { NetworkPort } from './ports.js';
import type { SearchQueue } from './search-queue.js';

const REQUEST: GoRequest = { nodes: 100, moveTimeMs: 300 };

export class WarmUp {
  private network: NetworkPort | null = null;
  private lastEnd: Promise<void> = Promise.resolve();

  /** Resolves when no warm-up is running. */
  get end(): Promise<void> {
    return this.lastEnd;
  }

  /** @returns null if this network has had its warm-up */
  createSearch(network: NetworkPort, searches: SearchQueue): ActiveSearch | null {
    if (network === this.network) return null;
    this.network = network;
    const search = searches.create(REQUEST, unwrap(createGamePosition(null, [])));
    search.isDiscarded = true;
    search.isWarmUp = true;
    this.lastEnd = new Promise((resolve) => {
      search.onEnd = resolve;
    });
    return search;
  }
}
