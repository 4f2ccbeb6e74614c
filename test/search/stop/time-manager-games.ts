import { unwrap } from '#sardonyx/base/util/index.js';
import type { MoverClock } from '#sardonyx/search/protocol/search-protocol.js';
import { createTimeManager } from '#sardonyx/search/stop/game-clock.js';
import { parseTimeManager } from '#sardonyx/search/stop/parse-time-manager.js';
import type { SearchProgress, TimeManager } from '#sardonyx/search/stop/time-manager.js';

export const MANAGERS = ['legacy', 'smooth', 'simple', 'alphazero'] as const;

export function createManager(text: string, slowmover?: number): TimeManager {
  return createTimeManager(unwrap(parseTimeManager(text, slowmover)));
}

/** A search that has run for `elapsedMs` at 5,000 nodes a second, its first move clearly best. */
export function progressAfter(elapsedMs: number, totalVisits = elapsedMs * 5): SearchProgress {
  const playouts = elapsedMs * 5;
  return {
    elapsedMs,
    sinceFirstBatchMs: elapsedMs,
    playouts,
    totalVisits,
    moveCount: 2,
    moveVisits: Uint32Array.of(playouts * 0.8, playouts * 0.2),
    isBestMoveDoubtful: false,
  };
}

export interface GameOfMoves {
  readonly clock: MoverClock;
  readonly moves: number;
  readonly moveOverheadMs?: number;
  /** What each move costs beyond the search. */
  readonly lagMs: (move: number) => number;
  /** The search cannot answer faster than this. */
  readonly shortestSearchMs?: number;
  /** Part of the budget that the search uses (smart pruning). */
  readonly used?: (move: number) => number;
}

/** Plays the clock of one side; returns what was left after each move. Negative = flag fell. */
export function playClock(manager: TimeManager, game: GameOfMoves): number[] {
  const left: number[] = [];
  let { timeMs } = game.clock;
  for (let move = 0; move < game.moves; move++) {
    const { moveOverheadMs = 200, shortestSearchMs = 1 } = game;
    const clock = { ...game.clock, timeMs };
    const budget = manager.startMove({ clock, gamePly: move * 2, moveOverheadMs, treeNodes: 100 });
    let elapsedMs = 0;
    const share = game.used?.(move) ?? 1;
    while (elapsedMs < budget.limitMs(progressAfter(elapsedMs)) * share) elapsedMs += Math.max(1, timeMs / 1000);
    elapsedMs = Math.max(elapsedMs, shortestSearchMs);
    budget.finish(progressAfter(elapsedMs));
    timeMs += game.clock.incrementMs - elapsedMs - game.lagMs(move);
    left.push(timeMs - game.clock.incrementMs);
    if (timeMs < 0) break;
  }
  return left;
}
