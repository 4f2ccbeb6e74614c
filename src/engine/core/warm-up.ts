/**
 * The first search of a process is slow, because V8 has yet to compile its code and memory is used for the first time. So that
 * this does not happen on a clock, each network first gets a silent search of the start position. A `go` may end it early.
 */

import { unwrap } from '../../base/util/index.js';
import { createGamePosition } from './game-position.js';
import type { GoRequest } from './go-request.js';
import type { NetworkPort } from './ports.js';
import type { RequestedSearch } from './requested-search.js';
import type { SearchQueue } from './search-queue.js';

const REQUEST: GoRequest = { nodes: 100, moveTimeMs: 300 };

export class WarmUp {
  private network: NetworkPort | null = null;
  /** Resolves when no warm-up is running. */
  end: Promise<void> = Promise.resolve();

  /** @returns null if this network has had its warm-up */
  createSearch(network: NetworkPort, searches: SearchQueue): RequestedSearch | null {
    if (network === this.network) return null;
    this.network = network;
    const search = searches.create(REQUEST, unwrap(createGamePosition(null, [])), 'warm-up');
    this.end = search.ended.promise;
    return search;
  }
}
