/**
 * The first search of a process is slow (code is compiled, memory is touched): let it not be on a clock. Each network gets one
 * search of the start position that nobody asked for and nobody hears of. Beginning and ending it is the engine's business;
 * a `go` may cut it short.
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

  /** Resolves when none is under way. */
  get end(): Promise<void> {
    return this.lastEnd;
  }

  /** @returns null when this network has had its own */
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
