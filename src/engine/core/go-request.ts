/** What a client asks of a search, in UCI's terms but parsed and checked, and the limits of a search that follow from it. */
import type { OptionStore } from '../../base/options/index.js';
import { BLACK, type Move, type Position } from '../../chess/rules/index.js';
import { type ClockLimits, computeMoveTimeBudgetMs, type SearchLimits } from '../../search/index.js';

export interface GoRequest {
  readonly infinite?: boolean;
  readonly ponder?: boolean;
  readonly whiteTimeMs?: number;
  readonly blackTimeMs?: number;
  readonly whiteIncrementMs?: number;
  readonly blackIncrementMs?: number;
  readonly movesToGo?: number;
  readonly depth?: number;
  readonly nodes?: number;
  readonly mate?: number;
  readonly moveTimeMs?: number;
  readonly searchMoves?: readonly Move[];
  /** The listener gets the statistics of the root moves, whatever the options say. */
  readonly reportsMoves?: boolean;
}

/** When the time of a search began: performance.timeOrigin + performance.now(). The clock of a game ran for `waitedMs` before. */
interface SearchStart {
  readonly startedAtMs: number;
  readonly waitedMs: number;
}

/** The clock of the side to move. If the GUI sent only the opponent's, that one: a search on a clock must end. */
function getMoverClock(request: GoRequest, blackToMove: boolean, waitedMs: number): ClockLimits['clock'] | null {
  const { whiteTimeMs, blackTimeMs } = request;
  const timeMs = blackToMove ? (blackTimeMs ?? whiteTimeMs) : (whiteTimeMs ?? blackTimeMs);
  if (timeMs === undefined) return null;
  const incrementMs = (blackToMove ? request.blackIncrementMs : request.whiteIncrementMs) ?? 0;
  return { timeMs: timeMs - waitedMs, incrementMs, movesToGo: request.movesToGo };
}

/** Whether the search has a limit. `go` alone is `go infinite`. */
export function isUnlimited(request: GoRequest): boolean {
  if (request.infinite) return true;
  const { whiteTimeMs, blackTimeMs, depth, nodes, mate, moveTimeMs } = request;
  return [whiteTimeMs, blackTimeMs, depth, nodes, mate, moveTimeMs].every((limit) => limit === undefined);
}

export function createSearchLimits(
  request: GoRequest,
  position: Position,
  options: OptionStore,
  { startedAtMs, waitedMs }: SearchStart,
): SearchLimits {
  const isInfinite = request.ponder === true || isUnlimited(request);
  const clock = request.infinite ? null : getMoverClock(request, position.sideToMove === BLACK, waitedMs);
  const moveTimeMs = request.infinite ? undefined : request.moveTimeMs;
  // TimeManager and Slowmover have been checked together.
  const settings = {
    timeManager: options.getString('TimeManager'),
    slowmover: options.getNumber('Slowmover'),
    moveOverheadMs: options.getNumber('MoveOverheadMs'),
  };
  return {
    startedAtMs,
    ...(isInfinite ? { infinite: true } : {}),
    // `go nodes 0` and `go depth 0` mean: answer as soon as possible.
    ...(request.nodes === undefined ? {} : { nodes: Math.max(1, request.nodes) }),
    ...(request.depth === undefined ? {} : { depth: Math.max(1, request.depth) }),
    ...(request.mate === undefined ? {} : { mate: Math.max(1, request.mate) }),
    ...(moveTimeMs === undefined ? {} : { budgetMs: computeMoveTimeBudgetMs(moveTimeMs, settings.moveOverheadMs) }),
    ...(clock === null ? {} : { clock: { ...settings, clock, gamePly: position.gamePly } }),
    ...(request.searchMoves === undefined ? {} : { searchMoves: request.searchMoves }),
  };
}
