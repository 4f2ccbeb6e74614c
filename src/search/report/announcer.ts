/**
 * Decides when a running search reports: it sends an info line when the best move or the depth changes, or when the last line
 * was long ago, and the statistics of all moves when the limits ask for them. root-report.ts makes both.
 */

import type { MoveStats, SearchInfo, SearchLimits } from '../protocol/search-protocol.js';
import { computeAverageDepth, type IterationStats } from '../root/iteration-stats.js';
import { getMove } from '../tree/read-tree.js';
import { createMoveStats } from './move-stats.js';
import { createSearchInfo, findVisitedEdge, listBestEdges, type ReportContext } from './root-report.js';

/** Longest time between two info lines while nothing changes, unless the limits say otherwise. */
const REPORT_INTERVAL_MS = 5000;

export interface InfoListener {
  onInfo(info: SearchInfo): void;
  onStats(rows: readonly MoveStats[], node: MoveStats): void;
}

export class Announcer {
  private bestChild = -1;
  private timeMs = 0;
  private last: SearchInfo | null = null;

  /** Serves one search. @param limits say what reports show */
  constructor(
    private readonly context: ReportContext,
    private readonly listener: InfoListener,
    private readonly limits: SearchLimits,
  ) {}

  /** After a batch: sends an info line if the best move or the depth has changed, or if the last line was long ago. */
  showProgress(stats: IterationStats): void {
    const { pipeline, rootMoves } = this.context;
    const isNew =
      rootMoves.bestChild !== this.bestChild ||
      computeAverageDepth(pipeline) !== this.last?.depth ||
      pipeline.counters.maxDepth !== this.last.seldepth;
    if (isNew) this.showLine(stats);
    else this.showSignOfLife(stats);
  }

  /**
   * At any time: sends an info line only if the last one was long ago. In the middle of a batch the finished visits depend on
   * how fast evaluators answer, and a search without a clock must report the same on every machine.
   */
  showSignOfLife(stats: IterationStats): void {
    const { reportIntervalMs = REPORT_INTERVAL_MS } = this.limits;
    if (stats.elapsedMs > this.timeMs + reportIntervalMs) this.showLine(stats);
  }

  /** The last info line of a search, unless it was sent already. @param answer the move to be played, which comes first; 0 = none */
  showEnd(stats: IterationStats, answer: number): void {
    const { pipeline, rootMoves, tree } = this.context;
    const isNew = pipeline.totalVisits !== this.last?.nodes || rootMoves.bestChild !== this.bestChild;
    const isLed =
      answer !== 0 && rootMoves.bestChild >= 0 && getMove(tree, tree.rootNode, rootMoves.bestChild) === answer;
    if (isNew || !isLed) this.show(stats, answer);
    if (this.limits.reportedStats !== undefined) this.showStats();
  }

  private showLine(stats: IterationStats): void {
    if (this.context.rootMoves.bestChild < 0) return;
    this.show(stats);
    if (this.limits.reportedStats === 'always') this.showStats();
  }

  private show(stats: IterationStats, leader = 0): void {
    const { context } = this;
    const { reportedMove, reportedLines = 1 } = this.limits;
    const edges =
      reportedMove === undefined
        ? listBestEdges(context, reportedLines, leader)
        : findVisitedEdge(context.tree, reportedMove);
    const info = createSearchInfo(context, stats, edges);
    this.bestChild = context.rootMoves.bestChild;
    this.timeMs = stats.elapsedMs;
    this.last = info;
    this.listener.onInfo(info);
  }

  private showStats(): void {
    const { rows, node } = createMoveStats(this.context);
    this.listener.onStats(rows, node);
  }
}
