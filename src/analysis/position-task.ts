/** One position to analyse: a checked turn of a query. postMessage can clone it. */
import type { Move } from '../chess/index.js';
import type { MoveRule, ScoreType, SearchParams } from '../search/index.js';

export interface PositionTask {
  readonly queryId: string;
  /** Moves played before the position. */
  readonly turnNumber: number;
  /** Higher ones are searched first. */
  readonly priority: number;
  readonly rootFen: string;
  readonly moves: readonly Move[];
  readonly blackToMove: boolean;
  readonly gamePly: number;
  readonly chess960: boolean;
  /** How the game has ended if there is no legal move, else null. */
  readonly end: 'checkmate' | 'stalemate' | null;
  /** The only moves to search; empty = all. */
  readonly searchMoves: readonly Move[];
  /** Moves to avoid, or the only ones to search, at greater depths too; empty = none. */
  readonly moveRules: readonly MoveRule[];
  /** Null = no such limit; at least one of the two is set. */
  readonly maxVisits: number | null;
  readonly maxTimeMs: number | null;
  /** Largest number of moves in an answer. */
  readonly moveLimit: number;
  readonly includesPolicy: boolean;
  readonly includesPvVisits: boolean;
  /** Milliseconds from the start of the search to the first report, and from one to the next; null = no reports. */
  readonly firstReportMs: number | null;
  readonly reportEveryMs: number | null;
  readonly params: SearchParams;
  readonly scoreType: ScoreType;
}

/** Selects tasks: of one query or of all, and only of the given turns if there are any. */
export interface TaskSelection {
  readonly queryId: string | null;
  readonly turnNumbers: readonly number[] | null;
}

export function isSelected(task: PositionTask, { queryId, turnNumbers }: TaskSelection): boolean {
  return (
    (queryId === null || task.queryId === queryId) && (turnNumbers === null || turnNumbers.includes(task.turnNumber))
  );
}
