/**
 * What a time manager is: it turns a chess clock into the number of milliseconds one search may use.
 * Numbers in, numbers out: no timer, no `Date.now()`, no chess. All times are milliseconds since the clock of this move
 * began to run (the `go` or the `position` line). A manager lives as long as a game, because it carries saved time from
 * move to move; `ucinewgame` makes a new one.
 */

/** The clock of the side to move. Everything a GUI sends is allowed: negative, zero, without increment. */
export interface MoverClock {
  readonly timeMs: number;
  readonly incrementMs: number;
  /** Moves until the next time control; undefined or ≤ 0 = sudden death. */
  readonly movesToGo?: number | undefined;
}

export interface MoveRequest {
  readonly clock: MoverClock;
  /** Plies played since move 1 of the game (from the FEN's move number). */
  readonly gamePly: number;
  /** Time the user wants to keep for connection and GUI. */
  readonly moveOverheadMs: number;
  /** Visits in the tree before this search starts (what tree reuse left). */
  readonly treeNodes: number;
}

/** What the search knows about itself when it asks whether to go on. */
export interface SearchProgress {
  readonly elapsedMs: number;
  /** 0 until the first batch came back. */
  readonly sinceFirstBatchMs: number;
  /** New playouts of this search. */
  readonly playouts: number;
  /** Visits in the tree, reused ones included. */
  readonly treeNodes: number;
  /** Visits of each root edge that may be played; empty until the root is evaluated. */
  readonly rootVisits: ArrayLike<number>;
  /** The most visited move is not the one of the highest value. */
  readonly isBestMoveDoubtful: boolean;
}

/** The budget of one move. */
export interface MoveBudget {
  /** When to stop, by what is known now. Never NaN, never negative; it may move while the search runs. */
  limitMs(progress: SearchProgress): number;
  /** The manager's own speed estimate, for smart pruning; null = the search should use its own. */
  getNodesPerSecond(): number | null;
  /** Called once when the search ended, so that saved or overdrawn time is known to the next move. */
  finish(progress: SearchProgress): void;
}

export interface TimeManager {
  startMove(request: MoveRequest): MoveBudget;
}

/** A budget that does not change while the search runs. */
export function createFixedBudget(limitMs: number, onFinish?: (elapsedMs: number) => void): MoveBudget {
  return {
    limitMs: () => limitMs,
    getNodesPerSecond: () => null,
    finish: (progress) => onFinish?.(progress.elapsedMs),
  };
}
