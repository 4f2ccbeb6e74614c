/**
 * Many positions over one pool of evaluators, in one thread. There are so many places (boards); whenever one is free the
 * waiting position of the highest priority takes it. The boards take turns in small steps, so every position under way
 * gets the same share of the evaluators, and none is interrupted for another. Each position starts with an empty tree:
 * answers do not depend on what was asked before (the evaluation cache is shared, but it holds only evaluations). There
 * are no more places than the memory for trees has room for.
 */
import { runNextTurn } from '#platform/threads.js';
import type { LeafQueue } from '../../nn/index.js';
import { type Batching, defaultSearchParams, Search, type SearchScheduler } from '../../search/index.js';
import { createPrng, drawSeed } from '../../util/index.js';
import {
  type AnalysisAnswer,
  createAnswer,
  createEmptyAnswer,
  createFailedAnswer,
  createFinishedAnswer,
} from './answer.js';
import { isSelected, type PositionTask, type TaskSelection } from './position-task.js';
import type { AnalysisSettings } from './protocol.js';
import { TaskQueue } from './task-queue.js';

const INITIAL_NODES = 1024;
/** A tree of less could hardly look ahead: rather fewer positions at a time. */
const LEAST_TREE_BYTES = 2 ** 25;
/** Batches for each evaluator: one it works on and one that waits. */
const BATCHES_AHEAD = 2;
/** A search of few visits must not have too many of them under way at once: they would not know of each other. */
const LEAST_ROUNDS = 20;
/** A report is made in the thread that searches: it may take this share of its time at most. */
const REPORT_SHARE = 0.05;

interface Board {
  readonly search: Search;
  task: PositionTask | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class AnalysisRun {
  private readonly waiting = new TaskQueue();
  private readonly boards: Board[] = [];
  private freeBoards: Board[] = [];
  private isStarting = false;
  private idleWaiters: (() => void)[] = [];
  /** Positions under way at a time. */
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

  /** Waiting positions are answered without results, those under way with what was found so far. */
  terminate(selection: TaskSelection): void {
    for (const task of this.waiting.remove(selection)) this.onAnswer(createEmptyAnswer(task));
    for (const { task, search } of this.boards) {
      if (task !== null && isSelected(task, selection)) search.stop();
    }
    this.checkIdle();
  }

  /** Resolves when everything is answered. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.checkIdle();
    });
  }

  private get activeCount(): number {
    return this.boards.length - this.freeBoards.length;
  }

  /** Queries come in bursts: the most urgent of a burst starts first, and each knows how many share the evaluators. */
  private startSoon(): void {
    if (this.isStarting) return;
    this.isStarting = true;
    runNextTurn(() => {
      this.isStarting = false;
      while (this.waiting.size > 0 && this.activeCount < this.parallel) {
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
      search.setPosition({ rootFen, chess960, moves, blackToMove, gamePly });
      search.clearTree();
      if (task.firstReportMs !== null) this.reportLater(board, task, task.firstReportMs);
      const { move, hasFailed } = await this.scheduler.run(this.queue, search, {
        startedAtMs: performance.timeOrigin + performance.now(),
        searchMoves: task.searchMoves,
        ...(task.moveRules.length === 0 ? {} : { moveRules: task.moveRules }),
        ...(maxVisits === null ? {} : { nodes: maxVisits }),
        ...(maxTimeMs === null ? {} : { budgetMs: maxTimeMs }),
      });
      const root = search.describeRoot(task.moveLimit);
      if (hasFailed || move === 0 || root === null) return createFailedAnswer(task, 'No evaluator could answer');
      return createAnswer(task, root, false);
    } catch (error) {
      return createFailedAnswer(task, `The search failed: ${error instanceof Error ? error.message : String(error)}`);
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

  /** The fewer positions share the evaluators, the more leaves each has to have under way to keep them busy. */
  private computeBatching({ maxVisits }: PositionTask): Batching {
    const { workers, minibatch, slotCount } = this.queue;
    const { leavesPerPosition } = this.settings;
    if (leavesPerPosition > 0) return { minibatch: leavesPerPosition, batchesInFlight: 1 };
    const sharers = Math.min(this.parallel, this.activeCount + this.waiting.size);
    const wanted = Math.ceil(Math.min(BATCHES_AHEAD * workers * minibatch, slotCount) / Math.max(1, sharers));
    const leaves = Math.max(1, Math.min(wanted, Math.floor((maxVisits ?? Number.POSITIVE_INFINITY) / LEAST_ROUNDS)));
    if (leaves <= minibatch) return { minibatch: leaves, batchesInFlight: 1 };
    return { minibatch, batchesInFlight: Math.floor(leaves / minibatch) };
  }

  private createBoard(): Board {
    const { settings, parallel, queue, scheduler } = this;
    const search = new Search(
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
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
