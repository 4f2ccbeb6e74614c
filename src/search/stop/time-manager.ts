/**
 * Time managers: from a chess clock they compute how many milliseconds a search may take. They are pure
 * arithmetic, without timer, `Date.now()` or chess. All times are in milliseconds since the clock of this move started (the
 * `go` or the `position` line). A manager serves one game and carries saved time from move to move.
 */
import type { ClockLimits } from '../protocol/search-protocol.js';
import type { IterationStats } from '../root/iteration-stats.js';

export interface MoveRequest extends Pick<ClockLimits, 'clock' | 'gamePly' | 'moveOverheadMs'> {
  /** Visits that this search reuses from the last tree. */
  readonly treeNodes: number;
}

/** The state of the search when it asks whether to go on. */
export type SearchProgress = Readonly<
  Pick<
    IterationStats,
    'elapsedMs' | 'sinceFirstBatchMs' | 'playouts' | 'totalVisits' | 'moveCount' | 'moveVisits' | 'isBestMoveDoubtful'
  >
>;

/** The budget of one move. */
export interface MoveBudget {
  /** When the search should stop. Never NaN or negative; it may change while the search runs. */
  limitMs(progress: SearchProgress): number;
  /** The manager's estimate of nodes a second, for smart pruning; null = smart pruning measures. */
  getNodesPerSecond(): number | null;
  /** Called once when the search has ended; tells the manager how much time it saved or overdrew. */
  finish(progress: SearchProgress): void;
}

export interface TimeManager {
  startMove(request: MoveRequest): MoveBudget;
}

/** A budget that stays the same while the search runs. */
export function createFixedBudget(limitMs: number, onFinish?: (elapsedMs: number) => void): MoveBudget {
  return {
    limitMs: () => limitMs,
    getNodesPerSecond: () => null,
    finish: (progress) => onFinish?.(progress.elapsedMs),
  };
}
