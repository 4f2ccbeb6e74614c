/**
 * Time managers: from a chess clock they compute how many milliseconds a search may take. They are pure
 * arithmetic, without timer, `Date.now()` or chess. All times are in milliseconds since the clock of this move started (the
 * `go` or the `position` line). A manager serves one game and carries saved time from move to move.
 */
import type { MoverClock } from '../protocol/search-protocol.js';
import type { TimeManagerParams } from './parse-time-manager.js';

export interface MoveRequest {
  readonly clock: MoverClock;
  /** Plies played since move 1 of the game (from the FEN's move number). */
  readonly gamePly: number;
  /** Time that the user reserves for the connection and the GUI. */
  readonly moveOverheadMs: number;
  /** Visits that this search reuses from the last tree. */
  readonly treeNodes: number;
}

/** The state of the search when it asks whether to go on. */
export interface SearchProgress {
  readonly elapsedMs: number;
  /** 0 until the first batch is finished. */
  readonly sinceFirstBatchMs: number;
  /** Playouts of this search. */
  readonly playouts: number;
  /** Visits in the tree, reused ones included. */
  readonly treeNodes: number;
  /** Visits of each root move that may be played; empty until the root is evaluated. */
  readonly rootVisits: ArrayLike<number>;
  /** The most visited move is not the one with the highest value. */
  readonly isBestMoveDoubtful: boolean;
}

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

/**
 * Watches how fast the visits of the root's moves grow, and predicts whether another move will overtake the best one. The
 * `smooth` time manager opens its piggy bank by it (lc0: smooth.cc, VisitsTrendWatcher).
 */

export class VisitsTrend {
  private previous: number[] = [];
  private current: number[] = [];
  private last: number[] = [];
  private previousMs = 0;
  private currentMs = 0;
  private lastMs = 0;

  constructor(
    private readonly updatePeriodMs: number,
    private readonly bestMoveOptimism: number,
    private readonly overtakerOptimism: number,
  ) {}

  update(nowMs: number, visits: ArrayLike<number>): void {
    if (nowMs <= this.lastMs) return;
    const snapshot = Array.from(visits);
    if (this.previous.length !== snapshot.length) {
      this.previous = snapshot;
      this.current = snapshot;
      this.previousMs = nowMs;
      this.currentMs = nowMs;
    }
    this.last = snapshot;
    this.lastMs = nowMs;
    // With two snapshots the rate always spans one to two periods.
    if (this.currentMs + this.updatePeriodMs <= nowMs) {
      this.previous = this.current;
      this.previousMs = this.currentMs;
      this.current = snapshot;
      this.currentMs = nowMs;
    }
  }

  isBestMoveBeingOvertaken(deadlineMs: number): boolean {
    const spanMs = this.lastMs - this.previousMs;
    const remainingMs = deadlineMs - this.lastMs;
    if (spanMs <= 0 || remainingMs <= 0) return false;
    const { last, previous } = this;
    let best = 0;
    for (let i = 1; i < last.length; i++) if (last[i] > last[best]) best = i;
    const foresee = (i: number, optimism: number): number =>
      last[i] + (optimism * (last[i] - previous[i]) * remainingMs) / spanMs;
    const planned = foresee(best, this.bestMoveOptimism);
    for (let i = 0; i < last.length; i++) {
      if (i !== best && foresee(i, this.overtakerOptimism) > planned) return true;
    }
    return false;
  }
}

/**
 * lc0's default time manager (search/classic/stoppers/legacy.cc). It spreads the time left evenly over the moves that the
 * game is expected to last, and spends on the next move what smart pruning has saved.
 */

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

/**
 * Two time managers of lc0 that give each move a share of the time left. `simple` (stoppers/simple.cc): the share grows with
 * the ply number and with the ratio of increment to time, and what smart pruning saved on the last move is spent at once.
 * `alphazero` (stoppers/alphazero.cc): a fixed percentage; the increment is ignored.
 */

export class SimpleTimeManager implements TimeManager {
  private isFirstMove = true;
  private previousBudgetMs = 0;
  private previousAvailableMs = 0;

  constructor(private readonly params: TimeManagerParams['simple']) {}

  startMove({ clock, gamePly, moveOverheadMs }: MoveRequest): MoveBudget {
    const { params } = this;
    const availableMs = clock.timeMs - moveOverheadMs;
    // At or below zero the clock gives no ratio; `availableMs` below is then the only limit.
    const incrementRatio = clock.timeMs > 0 ? clock.incrementMs / clock.timeMs : 0;
    const share = (params['base-pct'] + gamePly * params['ply-pct']) / 100 + incrementRatio * params['time-factor'];
    let budgetMs = availableMs * share;
    if (this.isFirstMove) {
      budgetMs *= 1 + params['opening-bonus-pct'] / 100;
      this.isFirstMove = false;
    }
    if (this.previousBudgetMs > 0) {
      const usedMs = this.previousAvailableMs - (availableMs - clock.incrementMs);
      budgetMs += Math.max(0, this.previousBudgetMs - usedMs);
    }
    budgetMs = Math.min(budgetMs, availableMs);
    this.previousBudgetMs = budgetMs;
    this.previousAvailableMs = availableMs;
    return createFixedBudget(budgetMs);
  }
}

export class AlphazeroTimeManager implements TimeManager {
  constructor(private readonly params: TimeManagerParams['alphazero']) {}

  startMove({ clock, moveOverheadMs }: MoveRequest): MoveBudget {
    return createFixedBudget(((clock.timeMs - moveOverheadMs) * this.params['alphazero-time-pct']) / 100);
  }
}

/**
 * lc0's `smooth` time manager (stoppers/smooth.cc). It plans in nodes and not in milliseconds, and learns how much of a tree
 * survives a move and how much of its budget a search uses. It also saves time in a piggy bank for moves where the best
 * move is in doubt, because another one has a higher value or is about to overtake it. It is asked after every batch.
 */

const INITIAL_NODES_PER_SECOND = 20000;

export class SmoothTimeManager implements TimeManager {
  private isFirstMove = true;
  private treeReuse: number;
  private timeUse: number;
  private nodesPerSecond = INITIAL_NODES_PER_SECOND;
  private isSpeedReliable = false;
  private averageMoveMs = 0;
  private allocatedMs = 0;
  private lastFinalNodes = 0;
  /** `sinceFirstBatchMs` when the manager was last asked, in this search or the last one. */
  private lastReportMs = 0;
  private piggyBankMs = 0;

  constructor(private readonly params: TimeManagerParams['smooth']) {
    this.treeReuse = params['init-tree-reuse'];
    this.timeUse = params['init-timeuse'];
  }

  startMove({ clock, gamePly, moveOverheadMs, treeNodes }: MoveRequest): MoveBudget {
    const { params } = this;
    if (this.isFirstMove) {
      this.piggyBankMs = Math.max(0, clock.timeMs) * params['init-piggybank'];
      this.isFirstMove = false;
    }
    if (this.lastFinalNodes > 0 && this.lastReportMs > 0) this.learnTreeReuse(treeNodes);
    this.lastReportMs = 0;

    const movesToGo = computeMovesToGo(gamePly, clock.movesToGo, params.midpoint, params.steepness);
    const gameMs = clock.timeMs + clock.incrementMs * (movesToGo - 1) - moveOverheadMs;
    const maxPiggyBankMs = (params['max-piggybank-moves'] * Math.max(0, gameMs)) / movesToGo;
    this.piggyBankMs = Math.min(this.piggyBankMs, maxPiggyBankMs);

    const plannedMs = Math.max(0, gameMs - this.piggyBankMs);
    this.averageMoveMs = plannedMs / movesToGo;
    const nodesPerMove = (this.averageMoveMs * this.nodesPerSecond) / 1000;
    const newNodes = Math.max(0, nodesPerMove / (1 - this.treeReuse) - treeNodes);
    const grossMs = (newNodes / this.nodesPerSecond) * 1000;
    const savedMs = Math.min(maxPiggyBankMs - this.piggyBankMs, grossMs * params['per-move-piggybank']);
    const usableMs = clock.timeMs - moveOverheadMs;
    this.allocatedMs = Math.max(
      0,
      Math.min((grossMs - savedMs) / this.timeUse, clock.timeMs * params['max-move-budget'], usableMs),
    );
    const extensionMs = Math.max(
      0,
      Math.min(this.piggyBankMs * params['max-piggybank-use'], usableMs - this.allocatedMs),
    );
    this.piggyBankMs += savedMs;
    return this.createBudget(this.allocatedMs, extensionMs);
  }

  private createBudget(deadlineMs: number, extensionMs: number): MoveBudget {
    const { params } = this;
    const trend = new VisitsTrend(
      params['trend-nps-update-period-ms'],
      params['bestmove-optimism'],
      params['overtaker-optimism'],
    );
    const extendedMs = deadlineMs + extensionMs;
    let usedPiggyBank = false;
    return {
      limitMs: (progress) => {
        this.learnSpeed(progress);
        trend.update(progress.elapsedMs, progress.rootVisits);
        const extend =
          progress.isBestMoveDoubtful ||
          progress.sinceFirstBatchMs <= params['force-piggybank-ms'] ||
          trend.isBestMoveBeingOvertaken(extendedMs);
        if (extend && progress.elapsedMs >= deadlineMs) usedPiggyBank = true;
        return extend ? extendedMs : deadlineMs;
      },
      getNodesPerSecond: () => this.nodesPerSecond,
      finish: (progress) => this.learnFromMove(progress, usedPiggyBank, deadlineMs),
    };
  }

  private learnSpeed({ sinceFirstBatchMs, playouts }: SearchProgress): void {
    if (sinceFirstBatchMs <= 0 || playouts <= 0) return;
    const measured = (1000 * playouts) / sinceFirstBatchMs;
    const sinceReportMs = sinceFirstBatchMs - this.lastReportMs;
    if (this.isSpeedReliable && sinceReportMs > 0) {
      const windowMs = this.params['nps-update-period'] * 1000;
      this.nodesPerSecond = decayLinearly(this.nodesPerSecond, measured, sinceFirstBatchMs, sinceReportMs, windowMs);
    } else {
      this.nodesPerSecond = measured;
    }
    this.lastReportMs = sinceFirstBatchMs;
  }

  private learnFromMove({ elapsedMs, treeNodes }: SearchProgress, usedPiggyBank: boolean, deadlineMs: number): void {
    const { params } = this;
    this.isSpeedReliable = true;
    if (usedPiggyBank) this.piggyBankMs = Math.max(0, this.piggyBankMs - Math.max(0, elapsedMs - deadlineMs));
    const moveWeight = this.averageMoveMs > 0 ? elapsedMs / this.averageMoveMs : 0;
    const used = usedPiggyBank || this.allocatedMs <= 0 ? 1 : elapsedMs / this.allocatedMs;
    const timeUse = decayExponentially(this.timeUse, used, params['timeuse-update-rate'], moveWeight);
    this.timeUse = Math.max(timeUse, params['min-timeuse']);
    this.lastFinalNodes = treeNodes;
  }

  private learnTreeReuse(treeNodes: number): void {
    const { params } = this;
    const moveWeight = this.averageMoveMs > 0 ? this.lastReportMs / this.averageMoveMs : 0;
    const reused = treeNodes / this.lastFinalNodes;
    const treeReuse = decayExponentially(this.treeReuse, reused, params['tree-reuse-update-rate'], moveWeight);
    this.treeReuse = Math.min(treeReuse, params['max-tree-reuse']);
  }
}

/** Exponential decay from one value towards another. @param amount what has passed, in the unit of `halfLife` */
function decayExponentially(from: number, to: number, halfLife: number, amount: number): number {
  return to - (to - from) * 0.5 ** (amount / halfLife);
}

/**
 * An estimate that rises to its target at once and falls to it linearly, within a window of time since it was last reliable.
 * @param current the result of the previous call
 * @param target the measured value, noisy
 * @param sinceReliableMs time since the estimate was last reliable
 * @param sinceUpdateMs time since the previous call
 * @param windowMs time in which the estimate reaches the target
 */
function decayLinearly(
  current: number,
  target: number,
  sinceReliableMs: number,
  sinceUpdateMs: number,
  windowMs: number,
): number {
  if (current <= target || sinceReliableMs >= windowMs) return target;
  if (sinceUpdateMs <= 0) return current;
  const previousFraction = Math.max(0, sinceReliableMs - sinceUpdateMs) / windowMs;
  const reliable = (previousFraction * target - current) / (previousFraction - 1);
  return reliable + (target - reliable) * (sinceReliableMs / windowMs);
}
