/** The clock of one game: keeps the time manager, which remembers saved time, and asks it for a budget each move. */
import { computeMoveTimeBudgetMs, type MoveBudget, parseTimeManager, type TimeManager } from '../search/index.js';
import { unwrap } from '../util/index.js';
import { type GoRequest, getMoverClock } from './go-request.js';
import type { SearchReport } from './report.js';

/** The option store has checked that they fit together (engine-options.ts). */
export interface MoveClockSettings {
  readonly timeManager: string;
  readonly slowmover: number;
  readonly moveOverheadMs: number;
}

interface TimedMove {
  /** Null = no limit of time. */
  readonly budgetMs: number | null;
  finish(elapsedMs: number, report: SearchReport | null): void;
}

const NOTHING_KNOWN = { elapsedMs: 0, sinceFirstBatchMs: Number.MAX_VALUE, playouts: 0, treeNodes: 0, rootVisits: [] };

export class MoveClock {
  private manager: TimeManager | null = null;
  private managerText = '';
  private treeNodes = 0;

  /** The next search is the first of a game. */
  reset(): void {
    this.manager = null;
    this.treeNodes = 0;
  }

  start(request: GoRequest, gamePly: number, blackToMove: boolean, settings: MoveClockSettings): TimedMove {
    const isTimed = !request.infinite && !request.ponder;
    const clock = getMoverClock(request, blackToMove);
    const moveTimeMs = isTimed && request.mate === undefined ? request.moveTimeMs : undefined;
    const fixedMs = moveTimeMs === undefined ? null : computeMoveTimeBudgetMs(moveTimeMs, settings.moveOverheadMs);
    if (!isTimed || clock === null) return { budgetMs: fixedMs, finish: () => undefined };

    const { moveOverheadMs } = settings;
    const budget = this.getManager(settings).startMove({ clock, gamePly, moveOverheadMs, treeNodes: this.treeNodes });
    const clockMs = budget.limitMs(NOTHING_KNOWN);
    return {
      budgetMs: fixedMs === null ? clockMs : Math.min(fixedMs, clockMs),
      finish: (elapsedMs, report) => this.finish(budget, elapsedMs, report),
    };
  }

  private finish(budget: MoveBudget, elapsedMs: number, report: SearchReport | null): void {
    const nodes = report?.lines[0]?.nodes ?? 0;
    this.treeNodes = nodes;
    budget.finish({ elapsedMs, sinceFirstBatchMs: elapsedMs, playouts: nodes, treeNodes: nodes, rootVisits: [] });
  }

  private getManager({ timeManager, slowmover }: MoveClockSettings): TimeManager {
    const text = `${slowmover} ${timeManager}`;
    if (this.manager === null || text !== this.managerText) {
      this.manager = unwrap(parseTimeManager(timeManager, slowmover))();
      this.managerText = text;
    }
    return this.manager;
  }
}
