/**
 * Searches many positions over one pool of evaluators, in one thread. A fixed number of boards search at the same time; a free
 * board takes the waiting position with the highest priority. The boards take turns in small steps, so all running searches
 * get the same share of the evaluators, and none is interrupted. Each search starts with an empty tree, so answers do not
 * depend on earlier queries (they share the evaluation cache, which holds only evaluations). The memory for trees limits the
 * number of boards.
 */
import { runNextTurn } from '#platform/threads.js';
import { createPrng, drawSeed, getErrorMessage } from '../../base/util/index.js';
import { countBusyLeaves, type LeafQueue } from '../../networks/leaves/index.js';
import { type Batching, defaultSearchParams, type SearchScheduler, TreeSearch } from '../../search/index.js';
import type { AnalysisSettings } from './analysis-client.js';
import {
  type AnalysisAnswer,
  createAnswer,
  createEmptyAnswer,
  createFailedAnswer,
  createFinishedAnswer,
} from './answer.js';
import { isSelected, type PositionTask, type TaskSelection } from './parse-query.js';
import { TaskQueue } from './task-queue.js';

const INITIAL_NODES = 1024;
/** A smaller tree could hardly look ahead; fewer positions are searched at the same time instead. */
const LEAST_TREE_BYTES = 2 ** 25;
/** A search has at most 1/LEAST_ROUNDS of its visits in flight: they do not see each other's results. */
const LEAST_ROUNDS = 20;
/** The search thread also makes the reports; they may take at most this share of its time. */
const REPORT_SHARE = 0.05;

interface Board {
  readonly search: TreeSearch;
  task: PositionTask | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class AnalysisRun {
  private readonly waiting = new TaskQueue();
  private readonly boards: Board[] = [];
  private freeBoards: Board[] = [];
  private isStarting = false;
  private readonly idleWaiters: (() => void)[] = [];
  /** Number of positions searched at the same time. */
  private readonly parallel: number;

  constructor(
    private readonly queue: LeafQueue,
    private readonly scheduler: SearchScheduler,
    private readonly settings: AnalysisSettings,
    private readonly onAnswer: (answer: AnalysisAnswer) => void,
  ) {
    this.parallel = Math.max(1, Math.min(settings.parallel, Math.floor(settings.treeBytes / LEAST_TREE_BYTES)));
  }

  add(tasks: readonly PositionTask[]): void {
    for (const task of tasks) this.waiting.add(task);
    this.startSoon();
  }

  /** Answers waiting positions without results, and running ones with what was found so far. */
  terminate(selection: TaskSelection): void {
    for (const task of this.waiting.remove(selection)) this.onAnswer(createEmptyAnswer(task));
    for (const { task, search } of this.boards) {
      if (task !== null && isSelected(task, selection)) search.stop();
    }
    this.checkIdle();
  }

  /** Resolves when all positions are answered. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.checkIdle();
    });
  }

  private get activeCount(): number {
    return this.boards.length - this.freeBoards.length;
  }

  /**
   * Queries come in bursts. After the whole burst it is known which is the most urgent, and how many positions share the
   * evaluators.
   */
  private startSoon(): void {
    if (this.isStarting) return;
    this.isStarting = true;
    runNextTurn(() => {
      this.isStarting = false;
      while (this.activeCount < this.parallel) {
        const task = this.waiting.take();
        if (task === undefined) break;
        if (task.end !== null) this.onAnswer(createFinishedAnswer(task));
        else void this.analyse(this.freeBoards.pop() ?? this.createBoard(), task);
      }
      this.checkIdle();
    });
  }

  private async analyse(board: Board, task: PositionTask): Promise<void> {
    const { search } = board;
    board.task = task;
    this.onAnswer(await this.search(board, task));
    clearTimeout(board.timer);
    search.clearTree();
    board.task = null;
    this.freeBoards.push(board);
    this.startSoon();
  }

  /** Never rejects. */
  private async search(board: Board, task: PositionTask): Promise<AnalysisAnswer> {
    const { search } = board;
    const { rootFen, chess960, moves, blackToMove, gamePly, maxVisits, maxTimeMs } = task;
    try {
      search.configure(task.params, this.computeBatching(task));
      search.setPosition({ rootFen, chess960, moves, blackToMove, gamePly, pliesSinceRepetition: 0 });
      search.clearTree();
      if (task.firstReportMs !== null) this.reportLater(board, task, task.firstReportMs);
      const { move, hasFailed } = await this.scheduler.run(this.queue, search, {
        searchMoves: task.searchMoves,
        ...(task.moveRules.length === 0 ? {} : { moveRules: task.moveRules }),
        ...(maxVisits === null ? {} : { nodes: maxVisits }),
        ...(maxTimeMs === null ? {} : { budgetMs: maxTimeMs }),
      });
      const root = search.describeRoot(task.moveLimit);
      if (hasFailed || move === 0 || root === null) return createFailedAnswer(task, 'No evaluator could answer');
      return createAnswer(task, root, false);
    } catch (error) {
      return createFailedAnswer(task, `The search failed: ${getErrorMessage(error)}`);
    }
  }

  private reportLater(board: Board, task: PositionTask, delayMs: number): void {
    board.timer = setTimeout(() => {
      const { search } = board;
      if (board.task !== task || !search.isRunning) return;
      const startedAt = performance.now();
      const root = search.describeRoot(task.moveLimit);
      if (root !== null) this.onAnswer(createAnswer(task, root, true));
      const costMs = performance.now() - startedAt;
      if (task.reportEveryMs === null) return;
      this.reportLater(board, task, Math.max(task.reportEveryMs, costMs / REPORT_SHARE));
    }, delayMs);
  }

  /** The fewer positions share the evaluators, the more leaves of each must be in flight to keep them busy. */
  private computeBatching({ maxVisits }: PositionTask): Batching {
    const { minibatch, slotCount } = this.queue;
    const { leavesPerPosition } = this.settings;
    if (leavesPerPosition > 0) return { minibatch: leavesPerPosition, batchesInFlight: 1 };
    const sharers = Math.min(this.parallel, this.activeCount + this.waiting.size);
    const wanted = Math.ceil(Math.min(countBusyLeaves(this.queue), slotCount) / Math.max(1, sharers));
    const leaves = Math.max(1, Math.min(wanted, Math.floor((maxVisits ?? Number.POSITIVE_INFINITY) / LEAST_ROUNDS)));
    if (leaves <= minibatch) return { minibatch: leaves, batchesInFlight: 1 };
    return { minibatch, batchesInFlight: Math.floor(leaves / minibatch) };
  }

  private createBoard(): Board {
    const { settings, parallel, queue, scheduler } = this;
    const search = new TreeSearch(
      {
        channel: queue,
        rootRow: this.boards.length,
        store: { maxBytes: settings.treeBytes / parallel, initialNodes: INITIAL_NODES },
        random: createPrng(drawSeed()),
        clock: scheduler.clock,
      },
      defaultSearchParams,
      { minibatch: 1, batchesInFlight: 1 },
    );
    const board: Board = { search, task: null, timer: undefined };
    this.boards.push(board);
    return board;
  }

  private checkIdle(): void {
    if (this.activeCount > 0 || this.waiting.size > 0 || this.isStarting) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }
}
