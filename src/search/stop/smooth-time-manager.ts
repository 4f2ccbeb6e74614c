/**
 * lc0's `smooth` time manager (stoppers/smooth.cc). It plans in nodes and not in milliseconds, and learns how much of a tree
 * survives a move and how much of its budget a search uses. It also saves time in a piggy bank for moves where the best
 * move is in doubt, because another one has a higher value or is about to overtake it. It is asked after every batch.
 */

import { computeMovesToGo } from './legacy-time-manager.js';
import type { TimeManagerParams } from './parse-time-manager.js';
import type { MoveBudget, MoveRequest, SearchProgress, TimeManager } from './time-manager.js';
import { VisitsTrend } from './visits-trend.js';

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
        trend.update(progress.elapsedMs, progress.moveVisits.subarray(0, progress.moveCount));
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

  private learnFromMove({ elapsedMs, totalVisits }: SearchProgress, usedPiggyBank: boolean, deadlineMs: number): void {
    const { params } = this;
    this.isSpeedReliable = true;
    if (usedPiggyBank) this.piggyBankMs = Math.max(0, this.piggyBankMs - Math.max(0, elapsedMs - deadlineMs));
    const moveWeight = this.averageMoveMs > 0 ? elapsedMs / this.averageMoveMs : 0;
    const used = usedPiggyBank || this.allocatedMs <= 0 ? 1 : elapsedMs / this.allocatedMs;
    const timeUse = decayExponentially(this.timeUse, used, params['timeuse-update-rate'], moveWeight);
    this.timeUse = Math.max(timeUse, params['min-timeuse']);
    this.lastFinalNodes = totalVisits;
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
