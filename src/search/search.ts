/**
 * One search over one tree, in small steps: `step` gathers leaves or backs up finished ones, and never waits. So a thread can
 * run one search, or hundreds of them over the same evaluators. The search reports to a listener and answers each `start`
 * with exactly one best move.
 */

import type { Prng } from '../base/util/index.js';
import { MAX_EDGES } from '../networks/leaves/index.js';
import { type Contempt, chooseContempt, createWdlRescale, describeValues } from './formulas/contempt.js';
import { computeDrawScore } from './formulas/puct.js';
import { adaptToInstant, countInstantVisits, dropLengthLimits, isInstant } from './instant-search.js';
import type { SearchParams } from './protocol/params.js';
import type { PositionMessage, SearchLimits } from './protocol/search-protocol.js';
import { Announcer, type InfoListener } from './report/announcer.js';
import { describeRoot, type RootDescription } from './report/root-description.js';
import type { ReportContext } from './report/root-report.js';
import { continuesGame, GameTree } from './root/game-tree.js';
import { fillIterationStats } from './root/iteration-stats.js';
import { chooseMove, computeTemperature, type MoveChoice } from './root/move-choice.js';
import { StopWatch } from './stop/stop-watch.js';
import { computeVisitBudget, countWantedLines } from './stop/stoppers.js';
import { NO_NODE } from './tree/layout.js';
import { getEdgeCount } from './tree/read-tree.js';
import type { StoreOptions } from './tree/store.js';
import type { Tree } from './tree/tree.js';
import type { LeafChannel } from './visit/leaf-channel.js';
import { MoveFilter } from './visit/move-rules.js';
import { type Batching, type Gathering, Pipeline, type SearchCounters } from './visit/pipeline.js';
import { RootMoves } from './visit/root-moves.js';

const LONGEST_WAIT_MS = 100;
const CONTEMPT_IGNORED = "WARNING: Contempt mode set to 'disable' as 'play' not supported for infinite search.";
const LIMIT_REACHED = 'WARNING: Search has reached limit and does not make any progress.';
const PATH_TOO_LONG = 'The best line is as long as a path can be: the search cannot go on';
const NO_EVALUATOR = 'No evaluator could answer; the search ends';
const GARBAGE_WHEN_IDLE = 2000;
/** When memory is full: nodes to examine before each batch, to find some to free (1 to 2 ms of work). */
const FORGET_EFFORT = 20000;

export interface SearchListener extends InfoListener {
  onWarning(text: string): void;
  /** Called once a search on a clock: the time that the move may take. */
  onBudget?(limitMs: number): void;
  /** The last call of a search. A move of 0 = none: the game is over, or no evaluator works. */
  onBestMove(move: number, ponder: number): void;
}

export interface SearchOptions {
  readonly channel: LeafChannel;
  /** Row of the evaluators' root table that this search owns. */
  readonly rootRow: number;
  readonly store: StoreOptions;
  readonly random: Prng;
  /** Milliseconds since 1970, like `SearchLimits.startedAtMs`. */
  readonly clock: () => number;
}

/**
 * worked: call again. waiting: for an evaluator or the clock. crowded out: waiting for other searches over the same
 * evaluators, which hold every slot. done: no search is running.
 */
export type StepResult = 'worked' | 'waiting' | 'crowded out' | 'done';

export class TreeSearch {
  private game: GameTree;
  private rootMoves: RootMoves;
  private readonly watch: StopWatch;
  private pipeline: Pipeline;
  private params: SearchParams;
  private position: PositionMessage | null = null;

  /** The fields from here on belong to the running search. No listener = no search is running. */
  private listener: SearchListener | null = null;
  private announcer: Announcer | null = null;
  private limits: SearchLimits = { startedAtMs: 0 };
  private drawScore = 0;
  private contempt: Contempt;
  /** What the values in the tree depend on (describeValues). */
  private valuesOf = '';
  private isRootSent = false;
  private wantsStop = false;
  /** `go infinite` or `go ponder`: no answer before `stop`. */
  private mustWait = false;
  /** A limit is reached, but the answer has to wait for `stop`. */
  private isParked = false;
  /**
   * Visits before the search may stop. Two with `searchmoves`, because the first visit evaluates the root and none of these moves; but
   * a temperature draws a move by the priors (lc0), while one visit would decide for the likeliest.
   */
  private leastVisits = 0;

  constructor(
    private readonly options: SearchOptions,
    params: SearchParams,
    private batching: Batching,
  ) {
    this.watch = new StopWatch(options.clock);
    this.game = new GameTree(options.store, params.search);
    this.rootMoves = new RootMoves(this.game.tree);
    this.pipeline = this.createPipeline();
    this.params = adaptToInstant(params);
    this.contempt = chooseContempt(createWdlRescale(params), params, this.limits, false);
  }

  get tree(): Tree {
    return this.game.tree;
  }

  get counters(): Readonly<SearchCounters> {
    return this.pipeline.counters;
  }

  get isRunning(): boolean {
    return this.listener !== null;
  }

  /** How long the caller may sleep after 'waiting' if no evaluator answers. */
  get maxWaitMs(): number {
    const untilStop = this.isParked ? LONGEST_WAIT_MS : this.watch.hints.remainingMs;
    return this.isOverRate ? 1 : Math.min(LONGEST_WAIT_MS, Math.max(1, untilStop));
  }

  /**
   * New options, for the next search; not while one is running. The tree is kept, unless SearchAlgorithm changes.
   */
  configure(wanted: SearchParams, batching: Batching): void {
    const params = adaptToInstant(wanted);
    const isOtherStore = params.search !== this.params.search;
    this.params = params;
    this.batching = batching;
    if (isOtherStore) this.replaceStore();
  }

  /** Not while a search is running. @returns whether the position continues the last one, so that the tree was kept */
  setPosition(position: PositionMessage): boolean {
    // Not every client sends `ucinewgame`, and what the time manager has learnt belongs to one game (lc0: SetupPosition).
    if (this.position === null || !continuesGame(this.position, position)) this.watch.newGame();
    this.position = position;
    return this.game.setPosition(position, this.params.analyseMode);
  }

  /** Not while a search is running. */
  newGame(): void {
    this.game.clear();
    this.watch.newGame();
  }

  /** Not while a search is running. */
  clearTree(): void {
    this.game.clear();
  }

  /**
   * Draws a move by temperature once more after the search has answered; self-play does so when it refuses the first draw.
   * @returns 0 = none
   */
  redraw(): number {
    return this.choose().move;
  }

  private choose(): MoveChoice {
    return chooseMove(this.getReportContext(), this.position?.gamePly ?? 0, this.options.random);
  }

  /**
   * Describes the root and its best moves; between two steps, or after the answer.
   * @param lineCount moves to describe at most
   * @returns null before the root is evaluated
   */
  describeRoot(lineCount: number): RootDescription | null {
    return describeRoot(this.getReportContext(), lineCount);
  }

  start(asked: SearchLimits, listener: SearchListener): void {
    const { position, params, pipeline } = this;
    if (position === null) throw new Error('A search needs a position first');
    const { blackToMove } = position;
    const limits = isInstant(params) ? dropLengthLimits(asked) : asked;
    this.limits = limits;
    this.listener = listener;
    this.isRootSent = false;
    this.wantsStop = false;
    this.isParked = false;
    this.mustWait = limits.infinite === true || limits.ponder === true;
    this.drawScore = computeDrawScore(params.drawScore, blackToMove, false);
    this.contempt = chooseContempt(createWdlRescale(params), params, limits, blackToMove);
    if (this.contempt.isIgnored) listener.onWarning(CONTEMPT_IGNORED);
    this.announcer = new Announcer(this.getReportContext(), listener, limits);
    const values = describeValues(this.contempt, params, blackToMove);
    if (isInstant(params) || values !== this.valuesOf) this.game.clear();
    this.valuesOf = values;
    // Until a dropped node of a graph is freed, other lines may find it: how many are left must not depend on time.
    if (this.tree.hasOtherPaths) this.tree.collectGarbage(Number.POSITIVE_INFINITY);
    const { searchMoves = [] } = limits;
    this.game.beginSearch(searchMoves);
    this.rootMoves.reset();
    this.rootMoves.skipsWins = countWantedLines(limits) > 1;
    const moveFilter = limits.moveRules === undefined ? null : new MoveFilter(limits.moveRules);
    pipeline.begin({ params, batching: this.batching, blackToMove, contempt: this.contempt, moveFilter });
    const isDrawn = computeTemperature(params, position.gamePly) > 0;
    this.leastVisits = searchMoves.length > 0 && !isDrawn && !isInstant(params) ? 2 : 0;
    if (this.leastVisits > 0 && limits.nodes === 1) {
      // One visit of a move then; the root's own evaluation is not counted.
      this.leastVisits = 1;
      pipeline.reusedVisits--;
    }
    if (limits.tablebaseMoves !== undefined) pipeline.counters.tablebaseHits++;
    if (this.tree.rootNode !== NO_NODE) {
      this.onRootExpanded();
      pipeline.reusedVisits -= this.rootMoves.countExcludedVisits();
    }
    this.readTree();
    const budgetMs = this.watch.start(limits, params);
    if (budgetMs !== null) listener.onBudget?.(budgetMs);
    this.checkStoppers();
  }

  /** Makes the next `step` answer, or the first one after the root is evaluated. */
  stop(): void {
    this.wantsStop = true;
    this.mustWait = false;
  }

  step(): StepResult {
    const { pipeline, tree } = this;
    if (this.listener === null) return 'done';
    const hasRoot = tree.rootVisits > 0;
    if (pipeline.hasFailed) this.listener.onWarning(NO_EVALUATOR);
    if (pipeline.hasFailed || (this.wantsStop && hasRoot && pipeline.totalVisits >= this.leastVisits)) {
      this.finish();
      return 'done';
    }
    if (!this.isRootSent && !this.sendRoot()) return this.wait('waiting');
    if (pipeline.canGather && !this.isParked) {
      // Waits instead of backing up another batch first, so that a rate limit does not change what is searched.
      if (this.isOverRate) return this.wait('waiting');
      if (pipeline.isCrowdedOut) return this.wait('crowded out');
      const gathering = pipeline.gather(hasRoot ? this.computeBudget() : 1 - pipeline.leavesInFlight);
      if (pipeline.isIdle) {
        if (gathering.started === 0) this.unblock(gathering);
        this.afterBatch(gathering.needsMemory);
      }
      if (gathering.started > 0 || pipeline.isIdle) return 'worked';
    }
    const { isDone, needsMemory } = pipeline.backUpOldest();
    if (isDone) {
      this.afterBatch(needsMemory);
      return 'worked';
    }
    if (tree.hasGarbage && !tree.hasOtherPaths) {
      tree.collectGarbage(GARBAGE_WHEN_IDLE);
      return 'worked';
    }
    return this.wait('waiting');
  }

  /** Ends the search after an exception: answers with the best move of the tree, if it has one, and drops the tree. */
  giveUp(): void {
    try {
      this.finish();
    } finally {
      this.listener = null;
      this.clearTree();
    }
  }

  /** Replaces the tree by an empty one of the kind that SearchAlgorithm names. */
  private replaceStore(): void {
    this.game = new GameTree(this.options.store, this.params.search);
    this.rootMoves = new RootMoves(this.tree);
    this.pipeline = this.createPipeline();
    if (this.position !== null) this.game.setPosition(this.position, false);
  }

  private createPipeline(): Pipeline {
    const { channel, rootRow } = this.options;
    const onRootExpanded = (): void => this.onRootExpanded();
    return new Pipeline(this.tree, channel, rootRow, this.rootMoves, onRootExpanded);
  }

  /** Writes the root for the evaluators. @returns false while they may still read the previous one, for abandoned leaves */
  private sendRoot(): boolean {
    const { position } = this;
    const { channel, rootRow } = this.options;
    if (position === null || channel.isRootInUse(rootRow)) return false;
    channel.roots.write(rootRow, {
      fen: position.rootFen,
      moves: position.moves,
      twoFoldDraws: this.params.twoFoldDraws,
      keyHistory: this.params.cacheHistoryLength,
      // Tablebases do not know which moves are left out.
      skipsTablebases: this.limits.skipsTablebases === true || this.limits.moveRules !== undefined,
      lc0Order: this.batching.prefetch !== undefined,
    });
    this.isRootSent = true;
    return true;
  }

  private onRootExpanded(): void {
    const { params } = this;
    const { searchMoves, tablebaseMoves, nodes, playouts } = this.limits;
    this.rootMoves.apply(searchMoves ?? tablebaseMoves ?? [], params, this.options.random);
    if (params.sequentialHalving && (nodes !== undefined || playouts !== undefined)) {
      this.rootMoves.startHalving(params, this.computeVisitsLeft());
    }
    this.tree.store.reserve(1, 2 * MAX_EDGES, 0);
    this.tree.reserveBlock(this.tree.rootNode);
  }

  private computeBudget(): number {
    const left = Math.min(this.computeVisitsLeft(), this.rootMoves.halving?.remaining ?? Number.POSITIVE_INFINITY);
    return left - this.pipeline.leavesInFlight;
  }

  private computeVisitsLeft(): number {
    const { counters, totalVisits } = this.pipeline;
    const budget = computeVisitBudget(this.limits, this.params, totalVisits, counters.playouts);
    const moves = this.tree.rootVisits === 0 ? 0 : this.rootMoves.edgeLimit;
    return Math.min(budget, countInstantVisits(this.params, moves) - totalVisits);
  }

  private get isOverRate(): boolean {
    return this.watch.isOverRate(this.counters.playouts);
  }

  private readTree(): void {
    fillIterationStats(this.watch.stats, this.getReportContext(), this.limits.clock !== undefined);
  }

  private afterBatch(needsMemory: boolean): void {
    this.watch.read(this.counters.playouts);
    if (needsMemory) this.game.freeMemory(FORGET_EFFORT);
    this.rootMoves.halving?.advance(this.computeVisitsLeft(), this.drawScore);
    this.checkStoppers();
    this.announcer?.showProgress(this.watch.stats);
  }

  /** Called when no leaf is in flight and none could be gathered: memory is full, or the paths are at their limit. */
  private unblock({ needsMemory, hasReachedLongestPath }: Readonly<Gathering>): void {
    const hasBudget = this.computeBudget() > 0;
    if (hasBudget && needsMemory && this.game.freeMemory(Number.POSITIVE_INFINITY)) return;
    if (hasBudget && !needsMemory && hasReachedLongestPath) this.listener?.onWarning(PATH_TOO_LONG);
    this.leastVisits = 0;
    this.reachLimit();
  }

  private checkStoppers(): void {
    const { watch, tree, rootMoves } = this;
    if (tree.rootVisits === 0) return;
    this.readTree();
    if (watch.shouldStop()) this.reachLimit();
    if (isInstant(this.params) && this.computeVisitsLeft() <= 0) this.reachLimit();
    if (getEdgeCount(tree, tree.rootNode) === 0) {
      this.leastVisits = 0;
      this.reachLimit();
    }
    rootMoves.remainingPlayouts = Math.max(1, watch.hints.remainingPlayouts);
  }

  private reachLimit(): void {
    if (!this.mustWait) this.wantsStop = true;
    else if (!this.isParked) {
      this.isParked = true;
      this.listener?.onWarning(LIMIT_REACHED);
    }
  }

  /** Watches the clock, because there is nothing else to do. @returns what to tell the caller */
  private wait(what: StepResult): StepResult {
    this.watch.read(this.counters.playouts);
    if (!this.mustWait && this.watch.isTimeUp()) this.wantsStop = true;
    this.announcer?.showSignOfLife(this.watch.stats);
    return what;
  }

  private finish(): void {
    const { listener } = this;
    if (listener === null) return;
    this.pipeline.abandon();
    this.watch.read(this.counters.playouts);
    this.readTree();
    this.watch.finish();
    const answer = this.choose();
    if (getEdgeCount(this.tree, this.tree.rootNode) > 0) this.announcer?.showEnd(this.watch.stats, answer.move);
    this.rootMoves.restore();
    this.listener = null;
    listener.onBestMove(answer.move, answer.ponder);
  }

  private getReportContext(): ReportContext {
    return {
      tree: this.tree,
      pipeline: this.pipeline,
      rootMoves: this.rootMoves,
      params: this.params,
      hasMovesLeft: this.options.channel.hasMovesLeft,
      drawScore: this.drawScore,
      contempt: this.contempt,
    };
  }
}
