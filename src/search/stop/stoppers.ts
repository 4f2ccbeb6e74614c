/**
 * The stoppers (lc0: search/classic/stoppers): rules that look at the statistics after each batch. The first that is
 * satisfied ends the search. Stoppers also leave hints: how much time and how many playouts remain. `StopWatch` asks them.
 */

import type { SearchParams } from '../protocol/params.js';
import type { SearchLimits } from '../protocol/search-protocol.js';
import type { IterationStats } from '../root/iteration-stats.js';
import type { GameClock } from './game-clock.js';

/** Records count visits in 31 bits. */
const MOST_VISITS = 2_000_000_000;

export interface Hints {
  remainingMs: number;
  remainingPlayouts: number;
  /** Playouts a second, as a rate limit or a time manager's estimate; null = unknown. */
  nps: number | null;
}

/** Says whether the search should stop, and lowers the hints. */
export type Stopper = (stats: IterationStats, hints: Hints) => boolean;

/** Hints that limit nothing. */
export function createHints(): Hints {
  return { remainingMs: Number.POSITIVE_INFINITY, remainingPlayouts: MOST_VISITS, nps: null };
}

/** Visits that a search may still make before its limits of nodes or playouts end it. */
export function computeVisitBudget(
  limits: SearchLimits,
  params: SearchParams,
  totalVisits: number,
  playouts: number,
): number {
  const { nodes = MOST_VISITS, playouts: mostPlayouts = MOST_VISITS } = limits;
  const counted = params.nodesAsPlayouts ? playouts : totalVisits;
  return Math.min(MOST_VISITS - totalVisits, nodes - counted, mostPlayouts - playouts);
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
  const stoppers = [stopAtVisits(limits, params)];
  if (clock.isTimed) stoppers.push(stopAtTime(clock));
  if (limits.depth !== undefined) stoppers.push(stopAtDepth(limits.depth, lines));
  if (limits.mate !== undefined) stoppers.push(stopAtMate(limits.mate));
  if (endless || limits.mate !== undefined) return stoppers;
  if (params.minimumKldGainPerNode > 0) stoppers.push(stopAtKldGain(params));
  // Who analyses wants the time to be used; in a game `movetime` is the longest time for a move.
  if (params.analyseMode && limits.budgetMs !== undefined) return stoppers;
  if (params.smartPruningFactor > 0) stoppers.push(pruneSmartly(params, limits, clock.isTimed, lines));
  return stoppers;
}

function stopAtVisits(limits: SearchLimits, params: SearchParams): Stopper {
  return (stats, hints) => {
    const budget = computeVisitBudget(limits, params, stats.totalVisits, stats.playouts);
    if (params.smartPruningFactor > 0) hints.remainingPlayouts = Math.min(hints.remainingPlayouts, budget);
    return budget <= 0;
  };
}

function stopAtTime(clock: GameClock): Stopper {
  return (stats, hints) => {
    clock.update(stats);
    hints.remainingMs = Math.min(hints.remainingMs, clock.limitMs - stats.elapsedMs);
    hints.nps ??= clock.nodesPerSecond;
    return stats.elapsedMs >= clock.limitMs;
  };
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
function stopAtDepth(depth: number, lines: number): Stopper {
  const exhaustion = new Exhaustion();
  return (stats) => {
    const { averageDepth, newDepth, knownVisits, playouts } = stats;
    if (averageDepth >= depth || (2 * knownVisits > playouts && newDepth >= depth)) return true;
    return areLinesWon(stats, lines) || exhaustion.isReached(stats);
  };
}

function stopAtMate(moves: number): Stopper {
  const exhaustion = new Exhaustion();
  return (stats) => stats.mateInMoves <= moves || exhaustion.isReached(stats);
}

/** Stops when the distribution of visits hardly changes any more: when Σ old · ln(old / new) per new node is too small. */
function stopAtKldGain({ minimumKldGainPerNode, kldGainAverageInterval }: SearchParams): Stopper {
  let previous: Uint32Array | null = null;
  let previousNodes = 0;
  return (stats) => {
    const nodes = stats.totalVisits - 1;
    if (nodes < previousNodes + kldGainAverageInterval) return false;
    const visits = stats.moveVisits.slice(0, stats.moveCount);
    if (previous !== null) {
      let gain = 0;
      for (let i = 0; i < visits.length; i++) {
        if (previous[i] === 0) continue;
        const before = previous[i] / previousNodes;
        gain += before * Math.log(before / (visits[i] / nodes));
      }
      if (gain / (nodes - previousNodes) < minimumKldGainPerNode) return true;
    }
    previous = visits;
    previousNodes = nodes;
    return false;
  };
}

const PRUNING_TOLERANCE_MS = 200;
const PRUNING_TOLERANCE_PLAYOUTS = 300;

/**
 * Stops when no other move can overtake the best one any more. Without a clock it stops only on proofs and forced moves:
 * everything else depends on the speed of the machine, and `go nodes` has to make the same visits everywhere.
 */
function pruneSmartly(params: SearchParams, limits: SearchLimits, hasClock: boolean, lines: number): Stopper {
  const { smartPruningFactor: factor, smartPruningMinimumBatches: minimumBatches } = params;
  const isRestricted = (limits.searchMoves ?? []).length > 0;
  let firstEvaluationMs = -1;
  return (stats, hints) => {
    if (stats.moveCount === 0) return false;
    if (areLinesWon(stats, lines)) return true;
    // With one move in `searchmoves` the user wants its value, so it is searched although there is no choice.
    if (stats.moveCount === 1) return !isRestricted;
    if (stats.moveCount <= stats.losingMoves + (stats.mayResign ? 0 : 1)) return true;
    if (!hasClock) return false;
    if (firstEvaluationMs < 0) {
      if (stats.playouts > 0) firstEvaluationMs = stats.elapsedMs;
      return false;
    }
    const sinceFirst = stats.elapsedMs - firstEvaluationMs;
    if (sinceFirst < PRUNING_TOLERANCE_MS) return false;
    const nps = hints.nps ?? (1000 * (stats.playouts + PRUNING_TOLERANCE_PLAYOUTS)) / sinceFirst + 1;
    const inTime = ((hints.remainingMs / 1000) * nps) / factor;
    const remaining = Math.trunc(Math.min(inTime, hints.remainingPlayouts / factor));
    hints.remainingPlayouts = Math.min(hints.remainingPlayouts, remaining);
    if (stats.batches < minimumBatches) return false;
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
  };
}
