/**
 * The clock of one game, kept by the search that plays it: the time manager, which carries saved time from move to move,
 * and the budget of the running search. The budget may change while the search runs (`smooth` opens its piggy bank), so the
 * search asks for it after every batch.
 */
import { unwrap } from '../../util/index.js';
import type { ClockLimits, SearchLimits } from '../limits/search-protocol.js';
import type { IterationStats } from '../root/iteration-stats.js';
import { createTimeManager } from './clock-guard.js';
import { parseTimeManager } from './parse-time-manager.js';
import type { MoveBudget, SearchProgress, TimeManager } from './time-manager.js';

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
    const managedMs = this.budget?.limitMs(describeProgress(stats)) ?? Number.POSITIVE_INFINITY;
    this.limitMs = Math.min(this.fixedMs, managedMs);
  }

  finish(stats: IterationStats): void {
    this.budget?.finish(describeProgress(stats));
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

function describeProgress(stats: IterationStats): SearchProgress {
  return {
    elapsedMs: stats.elapsedMs,
    sinceFirstBatchMs: stats.sinceFirstBatchMs,
    playouts: stats.playouts,
    treeNodes: stats.totalVisits,
    rootVisits: stats.moveVisits.subarray(0, stats.moveCount),
    isBestMoveDoubtful: stats.isBestMoveDoubtful,
  };
}
