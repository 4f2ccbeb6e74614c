/**
 * lc0's default time manager (search/classic/stoppers/legacy.cc). It spreads the time left evenly over the moves that the
 * game is expected to last, and spends on the next move what smart pruning has saved.
 */

import type { TimeManagerParams } from './parse-time-manager.js';
import { createFixedBudget, type MoveBudget, type MoveRequest, type TimeManager } from './time-manager.js';

/** Smart pruning cannot shorten a search below this, so slowmover > 1 does not lengthen such budgets. */
const SMART_PRUNING_TOLERANCE_MS = 200;
const MAX_BOOK_PLIES = 12;

export class LegacyTimeManager implements TimeManager {
  private isFirstMove = true;
  private sparedMs = 0;

  constructor(private readonly params: TimeManagerParams['legacy']) {}

  startMove({ clock, gamePly, moveOverheadMs }: MoveRequest): MoveBudget {
    const { params } = this;
    const movesToGo = computeMovesToGo(gamePly, clock.movesToGo, params['midpoint-move'], params.steepness);
    let totalMs = Math.max(0, clock.timeMs + clock.incrementMs * (movesToGo - 1) - moveOverheadMs);

    let squanderMs = 0;
    if (this.sparedMs > 0) {
      totalMs = Math.max(0, totalMs - this.sparedMs);
      squanderMs = this.sparedMs * params['immediate-use'];
      this.sparedMs -= squanderMs;
    }

    let budgetMs = totalMs / movesToGo;
    if (this.isFirstMove) {
      // The first move has no tree to reuse, and after a long book its position is less usual.
      budgetMs *= 1 + params['first-move-bonus'] + params['book-ply-bonus'] * Math.min(MAX_BOOK_PLIES, gamePly);
      this.isFirstMove = false;
    }
    if (params.slowmover < 1 || budgetMs * params.slowmover > SMART_PRUNING_TOLERANCE_MS) {
      this.sparedMs -= budgetMs * (params.slowmover - 1);
      budgetMs *= params.slowmover;
    }
    const deadlineMs = Math.min(budgetMs + squanderMs, clock.timeMs - moveOverheadMs);
    return createFixedBudget(deadlineMs, (elapsedMs) => {
      this.sparedMs += deadlineMs - elapsedMs;
    });
  }
}

/**
 * How many moves the game still lasts, at least 1: the moves to the next time control if the GUI sends them and they are
 * fewer than the estimate.
 * @param gamePly plies played so far
 * @param midpoint median game length in moves
 * @param steepness how sharply the estimate falls around the midpoint
 */
export function computeMovesToGo(
  gamePly: number,
  movesToGo: number | undefined,
  midpoint: number,
  steepness: number,
): number {
  const estimate = estimateMovesToGo(gamePly, midpoint, steepness);
  const moves = movesToGo !== undefined && movesToGo > 0 ? Math.min(movesToGo, estimate) : estimate;
  return Math.max(1, moves);
}

/**
 * Lengths of chess games follow a log-logistic distribution; this is its median residual life (El-Taha and Clark, "Some
 * Useful Properties of Log-Logistic Random Variables for Health Care Simulations", 2015), as in lc0's legacy.cc.
 */
function estimateMovesToGo(gamePly: number, midpoint: number, steepness: number): number {
  const move = gamePly / 2;
  return midpoint * (1 + 2 * (move / midpoint) ** steepness) ** (1 / steepness) - move;
}
