/**
 * What a running search lets its listener know: an info line when the best move or the depth changes, or after a long
 * silence, and the statistics of all moves for those who want them.
 */
import { computeAverageDepth, type IterationStats } from './iteration-stats.js';
import { createMoveStats } from './root/verbose-move-stats.js';
import { createInfo, findVisitedEdge, listBestEdges, type ReportContext } from './search-info.js';
import type { MoveStats, SearchInfo } from './search-protocol.js';

/** Longest silence between two info lines while nothing changes. */
const INFO_INTERVAL_MS = 5000;

export interface InfoListener {
  onInfo(info: SearchInfo): void;
  onStats(rows: readonly MoveStats[], node: MoveStats): void;
}

export class Announcer {
  private bestChild = -1;
  private depth = 0;
  private seldepth = 0;
  private timeMs = 0;

  /** For one search. @param reportedMove of `SearchLimits` */
  constructor(
    private readonly context: ReportContext,
    private readonly listener: InfoListener,
    private readonly reportedMove: number | undefined,
  ) {}

  /** Shows what is new, if anything is. */
  showProgress(stats: IterationStats): void {
    const { pipeline, rootMoves, params } = this.context;
    const { bestChild } = rootMoves;
    if (bestChild < 0) return;
    const isNew =
      bestChild !== this.bestChild ||
      computeAverageDepth(pipeline) !== this.depth ||
      pipeline.counters.maxDepth !== this.seldepth ||
      stats.elapsedMs > this.timeMs + INFO_INTERVAL_MS;
    if (!isNew) return;
    this.show(stats);
    if (params.logLiveStats) this.showStats();
  }

  /** Shows the end of the search. @param answer the move to be played, which leads the lines; 0 = none */
  showEnd(stats: IterationStats, answer: number): void {
    const { params } = this.context;
    this.show(stats, answer);
    if (params.verboseMoveStats || params.logLiveStats) this.showStats();
  }

  private show(stats: IterationStats, leader = 0): void {
    const { context, reportedMove } = this;
    const edges =
      reportedMove === undefined
        ? listBestEdges(context, context.params.multiPv, leader)
        : findVisitedEdge(context.tree, reportedMove);
    const info = createInfo(context, stats, edges);
    this.bestChild = context.rootMoves.bestChild;
    this.depth = info.depth;
    this.seldepth = info.seldepth;
    this.timeMs = stats.elapsedMs;
    this.listener.onInfo(info);
  }

  private showStats(): void {
    const { rows, node } = createMoveStats(this.context);
    this.listener.onStats(rows, node);
  }
}
