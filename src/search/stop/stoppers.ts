/**
 * The stoppers (lc0: search/classic/stoppers): rules that look at the statistics after each batch. The first that is
 * satisfied ends the search. They also leave hints: how much time and how many playouts remain. `StopWatch` asks them, with the
 * clocks of the search and of the game.
 */

import type { SearchParams } from '../protocol/params.js';
import type { SearchLimits } from '../protocol/search-protocol.js';
import { createIterationStats, type IterationStats } from '../root/iteration-stats.js';
import { GameClock } from './game-clock.js';

/** Records count visits in 31 bits. */
const MOST_VISITS = 2_000_000_000;

export interface Hints {
  remainingMs: number;
  remainingPlayouts: number;
  /** Playouts a second, as a rate limit or a time manager's estimate; null = unknown. */
  nps: number | null;
}

export interface Stopper {
  shouldStop(stats: IterationStats, hints: Hints): boolean;
}

export function resetHints(hints: Hints): void {
  hints.remainingMs = Number.POSITIVE_INFINITY;
  hints.remainingPlayouts = MOST_VISITS;
  hints.nps = null;
}

/** Visits that a search may still make before its limits of nodes or playouts end it. */
export function computeVisitBudget(
  limits: SearchLimits,
  params: SearchParams,
  totalVisits: number,
  playouts: number,
): number {
  let budget = MOST_VISITS - totalVisits;
  const nodes = limits.nodes ?? 0;
  if (nodes > 0) budget = Math.min(budget, nodes - (params.nodesAsPlayouts ? playouts : totalVisits));
  const playoutLimit = limits.playouts ?? 0;
  if (playoutLimit > 0) budget = Math.min(budget, playoutLimit - playouts);
  return budget;
}

/** Moves that must have a score of their own: all lines of an analysis. A game needs only the move to play. */
export function countWantedLines({ clock, reportedLines = 1 }: SearchLimits): number {
  return clock === undefined ? reportedLines : 1;
}

/** Whether as many moves are won as lines are wanted: then nothing is left to find out. */
function areLinesWon({ winningMoves, moveCount }: IterationStats, lines: number): boolean {
  return winningMoves >= Math.min(lines, Math.max(1, moveCount));
}

/** @param clock the clock of this search, which runs already */
export function createStoppers(limits: SearchLimits, params: SearchParams, clock: GameClock): Stopper[] {
  const endless = limits.infinite === true || limits.ponder === true;
  const lines = countWantedLines(limits);
  const stoppers: Stopper[] = [new VisitStopper(limits, params)];
  if (clock.isTimed) stoppers.push(new TimeStopper(clock));
  if (limits.depth !== undefined && limits.depth > 0) stoppers.push(new DepthStopper(limits.depth, lines));
  if (limits.mate !== undefined && limits.mate > 0) stoppers.push(new MateStopper(limits.mate));
  if (endless || limits.mate !== undefined) return stoppers;
  if (params.minimumKldGainPerNode > 0) stoppers.push(new KldGainStopper(params));
  // Who analyses wants the time to be used; in a game `movetime` is the longest time for a move.
  if (params.analyseMode && limits.budgetMs !== undefined) return stoppers;
  if (params.smartPruningFactor > 0) stoppers.push(new SmartPruningStopper(params, limits, clock.isTimed, lines));
  return stoppers;
}

class VisitStopper implements Stopper {
  constructor(
    private readonly limits: SearchLimits,
    private readonly params: SearchParams,
  ) {}

  shouldStop(stats: IterationStats, hints: Hints): boolean {
    const budget = computeVisitBudget(this.limits, this.params, stats.totalVisits, stats.playouts);
    if (this.params.smartPruningFactor > 0) hints.remainingPlayouts = Math.min(hints.remainingPlayouts, budget);
    return budget <= 0;
  }
}

class TimeStopper implements Stopper {
  constructor(private readonly clock: GameClock) {}

  shouldStop(stats: IterationStats, hints: Hints): boolean {
    const { clock } = this;
    clock.update(stats);
    hints.remainingMs = Math.min(hints.remainingMs, clock.limitMs - stats.elapsedMs);
    hints.nps ??= clock.nodesPerSecond;
    return stats.elapsedMs >= clock.limitMs;
  }
}

/** Playouts before a search can be exhausted, and the share of them that adds nothing then. */
const LEAST_EXHAUSTED = 1000;
const EXHAUSTED_SHARE = 7 / 8;

/**
 * Whether more playouts would find nothing new, although no limit is reached: every move is proven, or nearly all of the second half
 * of the playouts ended at known results. A depth or a mate would never be reached by such playouts.
 */
class Exhaustion {
  private playouts = 0;
  private knownVisits = 0;

  isReached(stats: IterationStats): boolean {
    if (stats.settledMoves === stats.moveCount) return true;
    const { playouts, knownVisits } = stats;
    if (playouts < 2 * this.playouts + LEAST_EXHAUSTED) return false;
    const isReached = knownVisits - this.knownVisits >= EXHAUSTED_SHARE * (playouts - this.playouts);
    this.playouts = playouts;
    this.knownVisits = knownVisits;
    return isReached;
  }
}

/**
 * Playouts that end at known results, such as a best move that draws, keep the average depth low. If they are the majority, only
 * the depth of the other playouts counts.
 */
class DepthStopper implements Stopper {
  private readonly exhaustion = new Exhaustion();

  constructor(
    private readonly depth: number,
    private readonly lines: number,
  ) {}

  shouldStop(stats: IterationStats): boolean {
    const { averageDepth, newDepth, knownVisits, playouts } = stats;
    if (averageDepth >= this.depth || (2 * knownVisits > playouts && newDepth >= this.depth)) return true;
    return areLinesWon(stats, this.lines) || this.exhaustion.isReached(stats);
  }
}

class MateStopper implements Stopper {
  private readonly exhaustion = new Exhaustion();

  constructor(private readonly moves: number) {}

  shouldStop(stats: IterationStats): boolean {
    return stats.mateInMoves <= this.moves || this.exhaustion.isReached(stats);
  }
}

/** Stops when the distribution of visits hardly changes any more: when Σ old · ln(old / new) per new node is too small. */
class KldGainStopper implements Stopper {
  private readonly minimum: number;
  private readonly interval: number;
  private previous: Uint32Array | null = null;
  private previousNodes = 0;

  constructor(params: SearchParams) {
    this.minimum = params.minimumKldGainPerNode;
    this.interval = params.kldGainAverageInterval;
  }

  shouldStop(stats: IterationStats): boolean {
    const nodes = stats.totalVisits - 1;
    if (nodes < this.previousNodes + this.interval) return false;
    const visits = stats.moveVisits.slice(0, stats.moveCount);
    if (this.previous !== null) {
      let gain = 0;
      for (let i = 0; i < visits.length; i++) {
        if (this.previous[i] === 0) continue;
        const before = this.previous[i] / this.previousNodes;
        gain += before * Math.log(before / (visits[i] / nodes));
      }
      if (gain / (nodes - this.previousNodes) < this.minimum) return true;
    }
    this.previous = visits;
    this.previousNodes = nodes;
    return false;
  }
}

const PRUNING_TOLERANCE_MS = 200;
const PRUNING_TOLERANCE_PLAYOUTS = 300;

/**
 * Stops when no other move can overtake the best one any more. Without a clock it stops only on proofs and forced moves:
 * everything else depends on the speed of the machine, and `go nodes` has to make the same visits everywhere.
 */
class SmartPruningStopper implements Stopper {
  private readonly factor: number;
  private readonly minimumBatches: number;
  private readonly isRestricted: boolean;
  private firstEvaluationMs = -1;

  constructor(
    params: SearchParams,
    limits: SearchLimits,
    private readonly hasClock: boolean,
    private readonly lines: number,
  ) {
    this.factor = params.smartPruningFactor;
    this.minimumBatches = params.smartPruningMinimumBatches;
    this.isRestricted = (limits.searchMoves ?? []).length > 0;
  }

  shouldStop(stats: IterationStats, hints: Hints): boolean {
    if (stats.moveCount === 0) return false;
    if (areLinesWon(stats, this.lines)) return true;
    // With one move in `searchmoves` the user wants its value, so it is searched although there is no choice.
    if (stats.moveCount === 1) return !this.isRestricted;
    if (stats.moveCount <= stats.losingMoves + (stats.mayResign ? 0 : 1)) return true;
    if (!this.hasClock) return false;
    if (this.firstEvaluationMs < 0) {
      if (stats.playouts > 0) this.firstEvaluationMs = stats.elapsedMs;
      return false;
    }
    const sinceFirst = stats.elapsedMs - this.firstEvaluationMs;
    if (sinceFirst < PRUNING_TOLERANCE_MS) return false;
    const nps = hints.nps ?? (1000 * (stats.playouts + PRUNING_TOLERANCE_PLAYOUTS)) / sinceFirst + 1;
    const inTime = ((hints.remainingMs / 1000) * nps) / this.factor;
    const remaining = Math.trunc(Math.min(inTime, hints.remainingPlayouts / this.factor));
    hints.remainingPlayouts = Math.min(hints.remainingPlayouts, remaining);
    if (stats.batches < this.minimumBatches) return false;
    let most = 0;
    let second = 0;
    for (let i = 0; i < stats.moveCount; i++) {
      const visits = stats.moveVisits[i];
      if (visits > most) {
        second = most;
        most = visits;
      } else if (visits > second) {
        second = visits;
      }
    }
    return remaining < most - second;
  }
}

// Decides when a search should end without `stop`. It has the clocks of the search and of the game and asks the stoppers after
// each batch. `TreeSearch` decides whether it must wait for `stop` nevertheless.

/** The rate limit counts as binding when a search reaches at least this share of it. */
const BINDING_SHARE = 0.9;

export class StopWatch {
  /** The stop watch keeps the times; `TreeSearch` fills in the rest. */
  readonly stats = createIterationStats();
  readonly hints: Readonly<Hints>;
  private readonly ownHints: Hints = { remainingMs: 0, remainingPlayouts: 0, nps: null };
  private readonly gameClock = new GameClock();
  private stoppers: Stopper[] = [];
  private limits: SearchLimits = { startedAtMs: 0 };
  /** When the first batch of the running search was finished; 0 = not yet. */
  private firstBatchAtMs = 0;
  /** Playouts a second at most; 0 = as many as it can. */
  private rateLimit = 0;

  /** @param now milliseconds since 1970, like `SearchLimits.startedAtMs` */
  constructor(private readonly now: () => number) {
    this.hints = this.ownHints;
  }

  /** Forgets the game: the next move is the first of another one. */
  newGame(): void {
    this.gameClock.reset();
  }

  /**
   * Starts the clock of a search; `stats` must be filled in.
   * @returns the milliseconds that the clock allows this move; null without a clock
   */
  start(limits: SearchLimits, params: SearchParams): number | null {
    this.limits = limits;
    this.firstBatchAtMs = 0;
    this.rateLimit = params.nodesPerSecondLimit;
    resetHints(this.ownHints);
    this.read(0);
    this.gameClock.start(limits, this.stats);
    this.stoppers = createStoppers(limits, params, this.gameClock);
    return this.gameClock.isTimed ? this.gameClock.limitMs : null;
  }

  /** Brings the times up to date. @param playouts of this search */
  read(playouts: number): void {
    const now = this.now();
    this.stats.elapsedMs = now - this.limits.startedAtMs;
    this.stats.sinceFirstBatchMs = this.firstBatchAtMs === 0 ? 0 : now - this.firstBatchAtMs;
    if (this.firstBatchAtMs === 0 && playouts > 0) this.firstBatchAtMs = now;
  }

  /** Asks the stoppers. Afterwards `hints` say how much time and how many playouts remain. */
  shouldStop(): boolean {
    const { ownHints, stats } = this;
    resetHints(ownHints);
    ownHints.nps = this.isRateBinding ? this.rateLimit : null;
    return this.stoppers.some((stopper) => stopper.shouldStop(stats, ownHints));
  }

  /** Whether the rate limit, and not the machine, decides how fast the search is. */
  private get isRateBinding(): boolean {
    const { playouts, sinceFirstBatchMs } = this.stats;
    return this.rateLimit > 0 && playouts * 1000 >= BINDING_SHARE * this.rateLimit * Math.max(1, sinceFirstBatchMs);
  }

  /** Whether the clock has run out; may be asked in the middle of a batch. */
  isTimeUp(): boolean {
    const { limitMs } = this.gameClock;
    if (limitMs === Number.POSITIVE_INFINITY) return false;
    const leftMs = limitMs - this.stats.elapsedMs;
    this.ownHints.remainingMs = Math.min(this.ownHints.remainingMs, leftMs);
    return leftMs <= 0;
  }

  isOverRate(playouts: number): boolean {
    if (this.rateLimit === 0 || this.firstBatchAtMs === 0) return false;
    const sinceMs = Math.max(1, this.now() - this.firstBatchAtMs);
    return (playouts * 1000) / sinceMs > this.rateLimit;
  }

  /** Tells the time manager, when the search has answered, how long it took. */
  finish(): void {
    this.gameClock.finish(this.stats);
  }
}
