/** lc0's `alphazero` time manager (stoppers/alphazero.cc): a fixed percentage of the time left, increment ignored. */
import { createFixedBudget, type MoveBudget, type MoveRequest, type TimeManager } from './time-manager.js';

export const ALPHAZERO_DEFAULTS = { 'alphazero-time-pct': 12 };

export class AlphazeroTimeManager implements TimeManager {
  constructor(private readonly params: typeof ALPHAZERO_DEFAULTS) {}

  startMove({ clock, moveOverheadMs }: MoveRequest): MoveBudget {
    return createFixedBudget(((clock.timeMs - moveOverheadMs) * this.params['alphazero-time-pct']) / 100);
  }
}
