/**
 * Stands between every time manager and the clock: a manager may plan as it likes, the guard keeps the flag from falling.
 *
 * Two things the four managers of lc0 do not know:
 * - the overhead (200 ms by default) is meant for games of minutes. It is cut to a tenth of the longest clock seen in
 *   the game, a fifth where no increment or time control refills it: at 1+0.01 it reserves 100 ms, at 0.1 s it leaves
 *   something to think with. It shrinks with the game, not with the clock, so the last 200 ms of a long game are not
 *   thought away.
 * - what a move costs beyond its budget (the last batch, pipes, GUI, network) shows in the next clock: previous time +
 *   increment − next time − budget used. This lag is averaged and taken off every budget. Lag that the increment does
 *   not pay for is put aside for many moves more than a manager plans: it is what loses on time in sudden death.
 */
import type { MoveBudget, MoveRequest, MoverClock, SearchProgress, TimeManager } from './time-manager.js';

const MAX_OVERHEAD_SHARE = 0.1;
const MAX_OVERHEAD_SHARE_SUDDEN_DEATH = 0.2;
const LAG_WEIGHT = 0.25;
/** Lag is kept in reserve for a game of so many moves: the managers' estimate of its end is far too short for safety. */
const LONG_GAME_MOVES = 220;
/** And for so many more, however long it has lasted. */
const LEAST_RESERVE_MOVES = 40;
/** What a move costs at least beyond its lag: one batch, and the lag's scatter as a share of it. */
const LEAST_SEARCH_MS = 1;
const LAG_SCATTER = 0.2;
/** Lag put aside for a move at least, for pipes and the start of a search, also while none is known. */
const LEAST_LAG_MS = 1.5;
const MAX_LAG_MS = 1000;
/** A single move's lag counts at most as this share of the longest clock: a pause of the GUI is no lag. */
const MAX_LAG_SHARE = 0.05;

/** The overhead that makes sense for a clock (or a `movetime`) of this length. */
export function capOverheadMs(moveOverheadMs: number, clockMs: number, isSuddenDeath = false): number {
  const share = isSuddenDeath ? MAX_OVERHEAD_SHARE_SUDDEN_DEATH : MAX_OVERHEAD_SHARE;
  return Math.min(Math.max(0, moveOverheadMs), Math.max(0, clockMs) * share);
}

/** How long a `go movetime` may think. */
export function computeMoveTimeBudgetMs(moveTimeMs: number, moveOverheadMs: number): number {
  const known = finiteOr(moveTimeMs, 0);
  return Math.max(0, known - capOverheadMs(finiteOr(moveOverheadMs, 0), known));
}

function finiteOr(value: number | undefined, fallback: number): number {
  return value !== undefined && Number.isFinite(value) ? value : fallback;
}

function sanitizeClock(clock: MoverClock): MoverClock {
  return {
    timeMs: finiteOr(clock.timeMs, 0),
    incrementMs: Math.max(0, finiteOr(clock.incrementMs, 0)),
    movesToGo: clock.movesToGo,
  };
}

interface LastMove {
  readonly clock: MoverClock;
  readonly gamePly: number;
  /** What the search used of its budget; what it overran counts as lag. */
  readonly usedMs: number;
}

export class ClockGuard implements TimeManager {
  private longestClockMs = 0;
  private lagMs = 0;
  private lastMove: LastMove | null = null;
  private movesSeen = 0;

  constructor(private readonly manager: TimeManager) {}

  startMove(request: MoveRequest): MoveBudget {
    const clock = sanitizeClock(request.clock);
    const gamePly = Math.max(0, finiteOr(request.gamePly, 0));
    this.learnLag(clock, gamePly);
    this.longestClockMs = Math.max(this.longestClockMs, clock.timeMs);
    const isSuddenDeath = clock.incrementMs === 0 && !((clock.movesToGo ?? 0) > 0);
    const moveOverheadMs = capOverheadMs(finiteOr(request.moveOverheadMs, 0), this.longestClockMs, isSuddenDeath);
    const treeNodes = Math.max(0, finiteOr(request.treeNodes, 0));
    const budget = this.manager.startMove({ clock, gamePly, moveOverheadMs, treeNodes });

    const { lagMs } = this;
    const reserveMoves = Math.max(LEAST_RESERVE_MOVES, LONG_GAME_MOVES - this.movesSeen++);
    // What is put aside for lag serves as overhead too.
    const leastMs = Math.max(lagMs, LEAST_LAG_MS) * (1 + LAG_SCATTER) + LEAST_SEARCH_MS;
    const unpaidLagMs = Math.max(0, leastMs - clock.incrementMs) * reserveMoves;
    const ceilingMs = Math.max(0, clock.timeMs - lagMs - Math.max(moveOverheadMs, unpaidLagMs));
    let lastLimitMs = 0;
    return {
      limitMs: (progress) => {
        const limitMs = budget.limitMs(progress) - lagMs;
        lastLimitMs = limitMs > 0 ? Math.min(limitMs, ceilingMs) : 0;
        return lastLimitMs;
      },
      getNodesPerSecond: () => budget.getNodesPerSecond(),
      finish: (progress: SearchProgress) => {
        const usedMs = Math.min(progress.elapsedMs, lastLimitMs);
        this.lastMove = { clock, gamePly, usedMs };
        // The manager booked the lag as part of its budget, so it must see it as used.
        budget.finish({ ...progress, elapsedMs: Math.max(progress.elapsedMs, usedMs + lagMs) });
      },
    };
  }

  private learnLag(clock: MoverClock, gamePly: number): void {
    const { lastMove } = this;
    this.lastMove = null;
    // Only our very next move of the same game says anything; more time than before is a new time control or a gift.
    if (lastMove === null || gamePly !== lastMove.gamePly + 2) return;
    const chargedMs = lastMove.clock.timeMs + clock.incrementMs - clock.timeMs;
    if (chargedMs < 0) return;
    const highest = Math.min(MAX_LAG_MS, this.longestClockMs * MAX_LAG_SHARE);
    const observedMs = Math.min(Math.max(0, chargedMs - lastMove.usedMs), highest);
    this.lagMs += (observedMs - this.lagMs) * LAG_WEIGHT;
  }
}
