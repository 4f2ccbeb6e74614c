/**
 * The clock of one game, kept by the search that plays it: the time manager, which carries saved time from move to move,
 * and the budget of the running search. The budget may change while the search runs (`smooth` opens its piggy bank), so the
 * search asks for it after every batch. A guard around the time manager keeps the engine from losing on time.
 */

import { unwrap } from '../../base/util/index.js';
import type { ClockLimits, MoverClock, SearchLimits } from '../protocol/search-protocol.js';
import type { IterationStats } from '../root/iteration-stats.js';
import { LegacyTimeManager } from './legacy-time-manager.js';
import { parseTimeManager, type TimeManagerChoice } from './parse-time-manager.js';
import { AlphazeroTimeManager, SimpleTimeManager } from './simple-time-managers.js';
import { SmoothTimeManager } from './smooth-time-manager.js';
import type { MoveBudget, MoveRequest, SearchProgress, TimeManager } from './time-manager.js';

// Wraps a time manager and keeps the engine from losing on time, whatever budget the manager plans. It knows two things that
// the managers of lc0 do not:
// - The move overhead, 200 ms by default, is meant for games of minutes. The guard caps it at a tenth of the longest clock
//   of the game, or a fifth without increment and time control: 100 ms at 1+0.01. The cap follows the longest clock and not
//   the present one, so the reserve stays whole when the time of a long game runs out.
// - A move takes longer than its budget: the last batch, pipes, GUI and network add lag. The next clock shows it: previous
//   time + increment − next time − budget used. The guard takes the average lag off every budget. Lag beyond the increment
//   accumulates, which loses games of sudden death, so the guard reserves it for many more moves than a manager plans.

const MAX_OVERHEAD_SHARE = 0.1;
const MAX_OVERHEAD_SHARE_SUDDEN_DEATH = 0.2;
const LAG_WEIGHT = 0.25;
/** The guard reserves lag for games of this many moves, more than the managers plan for. */
const LONG_GAME_MOVES = 220;
/** It reserves lag for at least this many further moves, however long the game has lasted. */
const LEAST_RESERVE_MOVES = 40;
/** Besides its average lag a move needs time for at least one batch, and for the variation of the lag. */
const LEAST_SEARCH_MS = 1;
const LAG_SCATTER = 0.2;
/** The least lag to reserve for a move, for pipes and the start of a search. */
const LEAST_LAG_MS = 1.5;
const MAX_LAG_MS = 1000;
/** One move's lag counts up to this share of the longest clock; more is a pause of the GUI. */
const MAX_LAG_SHARE = 0.05;

/** Makes the manager of one game, wrapped in a guard. */
export function createTimeManager(choice: TimeManagerChoice): TimeManager {
  return new ClockGuard(createUnguarded(choice));
}

function createUnguarded({ name, params }: TimeManagerChoice): TimeManager {
  switch (name) {
    case 'legacy':
      return new LegacyTimeManager(params);
    case 'smooth':
      return new SmoothTimeManager(params);
    case 'simple':
      return new SimpleTimeManager(params);
    case 'alphazero':
      return new AlphazeroTimeManager(params);
  }
}

/** The move overhead, capped for a clock or a `movetime` of this length. */
export function capOverheadMs(moveOverheadMs: number, clockMs: number, isSuddenDeath = false): number {
  const share = isSuddenDeath ? MAX_OVERHEAD_SHARE_SUDDEN_DEATH : MAX_OVERHEAD_SHARE;
  return Math.min(Math.max(0, moveOverheadMs), Math.max(0, clockMs) * share);
}

/** Milliseconds that a `go movetime` may search. */
export function computeMoveTimeBudgetMs(moveTimeMs: number, moveOverheadMs: number): number {
  const known = finiteOrZero(moveTimeMs);
  return Math.max(0, known - capOverheadMs(finiteOrZero(moveOverheadMs), known));
}

function finiteOrZero(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function sanitizeClock(clock: MoverClock): MoverClock {
  return {
    timeMs: finiteOrZero(clock.timeMs),
    incrementMs: Math.max(0, finiteOrZero(clock.incrementMs)),
    movesToGo: clock.movesToGo,
  };
}

interface LastMove {
  readonly clock: MoverClock;
  readonly gamePly: number;
  /** Time that the search used of its budget; the rest of its time is lag. */
  readonly usedMs: number;
}

class ClockGuard implements TimeManager {
  private longestClockMs = 0;
  private lagMs = 0;
  private lastMove: LastMove | null = null;
  private movesSeen = 0;

  constructor(private readonly manager: TimeManager) {}

  startMove(request: MoveRequest): MoveBudget {
    const clock = sanitizeClock(request.clock);
    const gamePly = Math.max(0, finiteOrZero(request.gamePly));
    this.learnLag(clock, gamePly);
    this.longestClockMs = Math.max(this.longestClockMs, clock.timeMs);
    const isSuddenDeath = clock.incrementMs === 0 && !((clock.movesToGo ?? 0) > 0);
    const moveOverheadMs = capOverheadMs(finiteOrZero(request.moveOverheadMs), this.longestClockMs, isSuddenDeath);
    const treeNodes = Math.max(0, finiteOrZero(request.treeNodes));
    const budget = this.manager.startMove({ clock, gamePly, moveOverheadMs, treeNodes });

    const { lagMs } = this;
    const reserveMoves = Math.max(LEAST_RESERVE_MOVES, LONG_GAME_MOVES - this.movesSeen++);
    // The reserve for lag also serves as overhead.
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
        // The manager planned the lag as a part of its budget, so it must see it as used.
        budget.finish({ ...progress, elapsedMs: Math.max(progress.elapsedMs, usedMs + lagMs) });
      },
    };
  }

  private learnLag(clock: MoverClock, gamePly: number): void {
    const { lastMove } = this;
    this.lastMove = null;
    // Only the engine's next move of the same game shows the lag. A clock that has gained time began a new time control.
    if (lastMove === null || gamePly !== lastMove.gamePly + 2) return;
    const chargedMs = lastMove.clock.timeMs + clock.incrementMs - clock.timeMs;
    if (chargedMs < 0) return;
    const highest = Math.min(MAX_LAG_MS, this.longestClockMs * MAX_LAG_SHARE);
    const observedMs = Math.min(Math.max(0, chargedMs - lastMove.usedMs), highest);
    this.lagMs += (observedMs - this.lagMs) * LAG_WEIGHT;
  }
}

export class GameClock {
  /** Milliseconds from the start of this move after which the search must end; `update` may change it. */
  limitMs = Number.POSITIVE_INFINITY;
  private manager: TimeManager | null = null;
  private managerText = '';
  private budget: MoveBudget | null = null;
  private fixedMs = Number.POSITIVE_INFINITY;

  get isTimed(): boolean {
    return this.budget !== null || this.fixedMs !== Number.POSITIVE_INFINITY;
  }

  /** The time manager's estimate of the speed; null = it makes none. */
  get nodesPerSecond(): number | null {
    return this.budget?.getNodesPerSecond() ?? null;
  }

  /** Forgets the game: the next move is the first of another one. */
  reset(): void {
    this.manager = null;
    this.budget = null;
  }

  /** Starts the clock for a move. */
  start(limits: SearchLimits, stats: IterationStats): void {
    const isTimed = limits.infinite !== true && limits.ponder !== true;
    const { clock } = limits;
    this.fixedMs = (isTimed ? limits.budgetMs : undefined) ?? Number.POSITIVE_INFINITY;
    this.budget =
      isTimed && clock !== undefined
        ? this.getManager(clock).startMove({ ...clock, treeNodes: stats.totalVisits })
        : null;
    this.update(stats);
  }

  update(stats: IterationStats): void {
    const managedMs = this.budget?.limitMs(stats) ?? Number.POSITIVE_INFINITY;
    this.limitMs = Math.min(this.fixedMs, managedMs);
  }

  finish(stats: IterationStats): void {
    this.budget?.finish(stats);
    this.budget = null;
  }

  private getManager({ timeManager, slowmover }: ClockLimits): TimeManager {
    const text = `${slowmover} ${timeManager}`;
    if (this.manager === null || text !== this.managerText) {
      this.manager = createTimeManager(unwrap(parseTimeManager(timeManager, slowmover)));
      this.managerText = text;
    }
    return this.manager;
  }
}
