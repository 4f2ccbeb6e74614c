/**
 * Two time managers of lc0 that give each move a share of the time left. `simple` (stoppers/simple.cc): the share grows with
 * the ply number and with the ratio of increment to time, and what smart pruning saved on the last move is spent at once.
 * `alphazero` (stoppers/alphazero.cc): a fixed percentage; the increment is ignored.
 */

import type { TimeManagerParams } from './parse-time-manager.js';
import { createFixedBudget, type MoveBudget, type MoveRequest, type TimeManager } from './time-manager.js';

export class SimpleTimeManager implements TimeManager {
  private isFirstMove = true;
  private previousBudgetMs = 0;
  private previousAvailableMs = 0;

  constructor(private readonly params: TimeManagerParams['simple']) {}

  startMove({ clock, gamePly, moveOverheadMs }: MoveRequest): MoveBudget {
    const { params } = this;
    const availableMs = clock.timeMs - moveOverheadMs;
    // At or below zero the clock gives no ratio; `availableMs` below is then the only limit.
    const incrementRatio = clock.timeMs > 0 ? clock.incrementMs / clock.timeMs : 0;
    const share = (params['base-pct'] + gamePly * params['ply-pct']) / 100 + incrementRatio * params['time-factor'];
    let budgetMs = availableMs * share;
    if (this.isFirstMove) {
      budgetMs *= 1 + params['opening-bonus-pct'] / 100;
      this.isFirstMove = false;
    }
    if (this.previousBudgetMs > 0) {
      const usedMs = this.previousAvailableMs - (availableMs - clock.incrementMs);
      budgetMs += Math.max(0, this.previousBudgetMs - usedMs);
    }
    budgetMs = Math.min(budgetMs, availableMs);
    this.previousBudgetMs = budgetMs;
    this.previousAvailableMs = availableMs;
    return createFixedBudget(budgetMs);
  }
}

export class AlphazeroTimeManager implements TimeManager {
  constructor(private readonly params: TimeManagerParams['alphazero']) {}

  startMove({ clock, moveOverheadMs }: MoveRequest): MoveBudget {
    return createFixedBudget(((clock.timeMs - moveOverheadMs) * this.params['alphazero-time-pct']) / 100);
  }
}
