/** Runs one search to its answer in a thread of its own, sleeping while only the evaluators have work. */

import type { LeafChannel } from './leaf-channel.js';
import type { Search, SearchListener } from './search.js';
import type { SearchLimits } from './search-protocol.js';
import type { SearchControl } from './stop-flag.js';

export interface Drive {
  readonly search: Search;
  readonly channel: LeafChannel;
  /** Absent: nobody can stop it but its limits. */
  readonly control?: SearchControl;
  readonly id: number;
  readonly limits: SearchLimits;
  readonly listener: SearchListener;
}

export function driveSearch({ search, channel, control, id, limits, listener }: Drive): void {
  search.start(limits, listener);
  for (;;) {
    // Read before looking at slots: an answer that comes in between changes the word, and there is no sleep.
    const seen = Atomics.load(channel.event, 0);
    if (control?.isStopRequested(id)) search.stop();
    const result = search.step();
    if (result === 'done') return;
    if (result !== 'worked') channel.waitForEvent(seen, search.patienceMs);
  }
}
