/**
 * The leaves in flight: gathers batches of leaves, sends them, and backs up finished leaves strictly in the order in which
 * they were gathered. It gathers only between whole batches, so what is searched depends on the tree and never on how fast an
 * evaluator answers. It knows neither clocks nor limits, and it never waits.
 *
 * One iteration of a search (`TreeSearch.step`, until the stoppers say stop), with the four verbs in capitals:
 *
 *   gather        while fewer batches are in flight than the batching allows:
 *     SELECT        walk from the root by PUCT and add virtual loss (select.ts, formulas/puct.ts)
 *     EVALUATE      send a new leaf to the evaluators as its path (leaf-channel.ts); a known result is backed up at once
 *   wait          until an evaluator has answered (thread/search-worker.ts)
 *   backUpOldest  for each leaf of the oldest batch, in order:
 *     EXPAND        make its node and edges (expand.ts)
 *     BACK UP       add its value to every record of the path and spread proven results (backup.ts, graph-backup.ts)
 *   look          ask the stoppers, report (search.ts, stop/stoppers.ts, report/announcer.ts)
 */
import { FAILED } from '../../networks/leaves/index.js';
import type { Contempt } from '../formulas/contempt.js';
import { computeCollisionBudget, computeDrawScore, NEVER } from '../formulas/puct.js';
import { defaultSearchParams, type SearchParams } from '../protocol/params.js';
import { cancelVisit } from '../tree/backup.js';
import type { NodeIndex } from '../tree/layout.js';
import { findBestEdge, getChildRecord, getRecordVisits } from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, ITEM_SLOT, VisitList } from '../tree/visit-list.js';
import { Expander, type Expansion } from './expand.js';
import type { LeafChannel } from './leaf-channel.js';
import type { MoveFilter } from './move-rules.js';
import { Prefetcher } from './prefetch.js';
import type { RootMoves } from './root-moves.js';
import { Selector } from './select.js';

/** Nodes of dropped subtrees to free after each batch, per leaf: more than a batch adds. */
const GARBAGE_PER_LEAF = 4;
/** Records reserved before a batch. In the rare case that they are too few, a leaf gets no node. */
const RECORDS_PER_LEAF = 4;
const EDGES_PER_LEAF = 64;
/** Many leaves in flight make a small tree worse: at 400 nodes, 40 of them gave away more than 24. */
const VISITS_PER_LEAF_IN_FLIGHT = 64;

/** How many leaves are kept in flight: `batchesInFlight` batches of `minibatch` leaves, more in a large tree. */
export interface Batching {
  readonly minibatch: number;
  readonly batchesInFlight: number;
  /** As many while the leaves in flight are at most 1/64 of the root's visits; absent = `batchesInFlight`. */
  readonly mostBatchesInFlight?: number;
  /** With one leaf in flight: positions evaluated together, the leaf included, as in lc0 (prefetch.ts); absent = the leaf alone. */
  readonly prefetch?: number;
  /** With one leaf in flight: visits of the root from which its moves count as lc0's solid tree does (move-scores.ts); absent = never. */
  readonly solidTree?: number;
}

/** The settings of one search. */
export interface SearchSetup {
  readonly params: SearchParams;
  readonly batching: Batching;
  readonly blackToMove: boolean;
  readonly contempt: Contempt;
  /** null when all moves are searched. */
  readonly moveFilter: MoveFilter | null;
}

/** The result of `gather`. */
export interface Gathering {
  /** Playouts started or done. */
  started: number;
  /** The tree's memory is full: the search must free some before the tree can grow. */
  needsMemory: boolean;
  /** Some path of this search has become as long as evaluators accept. */
  hasReachedLongestPath: boolean;
}

/** The result of `backUpOldest`. */
export interface BackupProgress {
  /** The oldest batch is backed up; false = an evaluator still works on one of its leaves, or there is no batch. */
  isDone: boolean;
  needsMemory: boolean;
}

/** Counters of one search, reset by `begin`. */
export class SearchCounters {
  playouts = 0;
  batches = 0;
  evaluations = 0;
  tablebaseHits = 0;
  /** The depths of the leaves of all playouts, summed up, and the largest; the root has depth 1. */
  depthSum = 0;
  maxDepth = 0;
  /** Playouts that added no node with moves to the tree: their line has ended, or is known. And the sum of their depths. */
  knownVisits = 0;
  knownDepthSum = 0;
  /** Walks that ended at a leaf in flight. */
  collisions = 0;
  /** Leaves that no evaluator could answer; the first such leaf ends the search. */
  failures = 0;
}

export class Pipeline {
  readonly counters = new SearchCounters();
  /** Visits of the root when the search began, less those of draws by repetition that were reopened. */
  reusedVisits = 0;
  /** Leaves that were sent and not yet backed up. */
  leavesInFlight = 0;

  private readonly selector: Selector;
  private readonly expander: Expander;
  private readonly prefetcher: Prefetcher;

  private params = defaultSearchParams;
  private minibatch = 1;
  private leastBatches = 1;
  private allowedBatches = 1;
  private prefetch = 0;
  private maxOutOfOrder = 1;
  private rootDrawScore = 0;
  /** Gathered batches, oldest first, in a ring. */
  private batches = [new VisitList()];
  private oldest = 0;
  private batchesInFlight = 0;
  /** Slots of positions that were sent for the cache only. */
  private prefetched: number[] = [];
  /** Position of the next leaf to back up in the oldest batch. */
  private cursor = 0;
  /** The last gathering came up short: wait until a batch is finished before gathering again. */
  private isBlocked = false;
  /** The results of `gather` and `backUpOldest`, reused for every call. */
  private readonly gathering: Gathering = { started: 0, needsMemory: false, hasReachedLongestPath: false };
  private readonly progress: BackupProgress = { isDone: false, needsMemory: false };

  /**
   * @param rootRow row of the evaluators' root table
   * @param onRootExpanded called when the root has just got its edges
   */
  constructor(
    private readonly tree: Tree,
    private readonly channel: LeafChannel,
    rootRow: number,
    private readonly rootMoves: RootMoves,
    private readonly onRootExpanded: () => void,
  ) {
    this.selector = new Selector(tree, channel, rootRow, rootMoves);
    this.expander = new Expander(tree, channel.columns);
    this.prefetcher = new Prefetcher(tree, channel, rootRow);
  }

  /** Starts a search; no leaf may be in flight. */
  begin({ params, batching, blackToMove, contempt, moveFilter }: SearchSetup): void {
    const {
      minibatch,
      batchesInFlight,
      mostBatchesInFlight = batchesInFlight,
      prefetch = 0,
      solidTree = NEVER,
    } = batching;
    Object.assign(this.counters, new SearchCounters());
    this.params = params;
    this.minibatch = minibatch;
    const isSequential = minibatch === 1 && batchesInFlight === 1;
    const solidRoot = isSequential ? solidTree : NEVER;
    this.prefetch = isSequential ? prefetch : 0;
    this.maxOutOfOrder = Math.max(1, Math.trunc(params.maxOutOfOrderEvalsFactor * minibatch));
    this.leastBatches = batchesInFlight;
    if (mostBatchesInFlight !== this.batches.length) {
      this.batches = Array.from({ length: mostBatchesInFlight }, () => new VisitList());
      this.oldest = 0;
    }
    this.allowBatches();
    this.reusedVisits = this.tree.rootVisits;
    this.isBlocked = false;
    this.gathering.hasReachedLongestPath = false;
    this.rootDrawScore = computeDrawScore(params.drawScore, blackToMove, false);
    this.selector.beginSearch(params, blackToMove, solidRoot);
    this.expander.beginSearch(contempt, moveFilter);
    this.prefetcher.beginSearch(params, blackToMove, solidRoot);
  }

  /** No evaluator can answer any more. */
  get hasFailed(): boolean {
    return this.counters.failures > 0;
  }

  get isIdle(): boolean {
    return this.batchesInFlight === 0;
  }

  get totalVisits(): number {
    return this.counters.playouts + this.reusedVisits;
  }

  /** No leaf is in flight and none can be sent, because other searches over the same evaluators hold every slot. */
  get isCrowdedOut(): boolean {
    return this.isIdle && this.channel.findRoom() === 0;
  }

  /** Whether another batch may be gathered now. */
  get canGather(): boolean {
    return !this.isBlocked && this.batchesInFlight < this.allowedBatches;
  }

  /**
   * Gathers one batch and sends it. Terminals found on the way are backed up at once.
   * @param visitBudget visits that may still be started
   * @returns an object that the next call overwrites
   */
  gather(visitBudget: number): Readonly<Gathering> {
    const { tree, channel, selector, params, counters, gathering } = this;
    const target = Math.min(this.minibatch, channel.findRoom(), visitBudget);
    gathering.started = 0;
    gathering.needsMemory = false;
    if (target <= 0) return gathering;
    gathering.needsMemory = !tree.store.reserve(target, RECORDS_PER_LEAF * (target + 16), 0);
    const batch = this.batches[(this.oldest + this.batchesInFlight) % this.batches.length];
    batch.clear();
    let budget = visitBudget;
    let outOfOrder = 0;
    let collisionEvents = params.maxCollisionEvents;
    let collisionVisits = computeCollisionBudget(Math.min(tree.rootVisits, this.rootMoves.remainingPlayouts), params);
    let mayCollide = true;
    while (batch.count < target && outOfOrder < this.maxOutOfOrder && budget > 0 && mayCollide) {
      const before = batch.count;
      const limit = Math.min(target - before, this.maxOutOfOrder - outOfOrder, budget, collisionVisits);
      const picked = selector.pick(batch, limit, collisionVisits);
      const { terminals } = picked;
      budget -= batch.count - before + terminals.count;
      counters.collisions += picked.collisions;
      this.reusedVisits -= picked.revertedVisits;
      if (picked.hasReachedLongestPath) gathering.hasReachedLongestPath = true;
      if (!terminals.isEmpty && params.outOfOrderEval) {
        outOfOrder += terminals.count;
        this.rootMoves.remainingPlayouts = Math.max(1, this.rootMoves.remainingPlayouts - terminals.count);
        selector.cancelLastCollisions();
        for (let at = 0; at < terminals.end; at = terminals.next(at)) this.backUp(terminals, at, null);
        continue;
      }
      // Without out-of-order evaluation a terminal takes a place in the batch, as a leaf does.
      for (let at = 0; at < terminals.end; at = terminals.next(at)) batch.append(terminals, at);
      collisionEvents -= picked.collisions;
      collisionVisits -= picked.collisionVisits;
      mayCollide = collisionEvents > 0 && collisionVisits > 0;
    }
    const { count } = batch;
    if (count > 0 && batch.data[ITEM_SLOT] >= 0) {
      this.prefetched = this.prefetcher.send(Math.min(this.prefetch - count, channel.findRoom()));
    }
    channel.flush();
    this.leavesInFlight += count;
    if (count > 0) this.batchesInFlight++;
    this.isBlocked = this.batchesInFlight > 0 && (count === 0 || (count < target && !mayCollide));
    if (this.batchesInFlight === 0) selector.cancelAllCollisions();
    gathering.started = count + outOfOrder;
    return gathering;
  }

  /**
   * Backs up the finished leaves of the oldest batch, in order, up to the first that is not finished.
   * @returns an object that the next call overwrites
   */
  backUpOldest(): Readonly<BackupProgress> {
    const { tree, channel, counters, progress } = this;
    progress.isDone = false;
    if (this.batchesInFlight === 0) return progress;
    const batch = this.batches[this.oldest];
    if (this.cursor === 0) {
      progress.needsMemory = !tree.store.reserve(batch.count, 0, EDGES_PER_LEAF * (batch.count + 2));
    }
    for (; this.cursor < batch.end; this.cursor = batch.next(this.cursor)) {
      const slot = batch.data[this.cursor + ITEM_SLOT];
      if (slot < 0) {
        this.backUp(batch, this.cursor, null);
      } else {
        if (!channel.isDone(slot)) return progress;
        this.finishLeaf(batch, this.cursor, slot);
      }
      this.leavesInFlight--;
    }
    if (!this.releasePrefetched()) return progress;
    this.cursor = 0;
    this.oldest = (this.oldest + 1) % this.batches.length;
    this.batchesInFlight--;
    this.isBlocked = false;
    this.selector.cancelAllCollisions();
    counters.batches++;
    this.allowBatches();
    tree.collectGarbage(GARBAGE_PER_LEAF * this.minibatch);
    progress.isDone = true;
    return progress;
  }

  /** Takes all virtual loss back and gives up the leaves in flight. */
  abandon(): void {
    while (this.batchesInFlight > 0) {
      const batch = this.batches[this.oldest];
      for (let at = this.cursor; at < batch.end; at = batch.next(at)) {
        cancelVisit(this.tree, batch, at);
        if (batch.data[at + ITEM_SLOT] >= 0) this.channel.abandon(batch.data[at + ITEM_SLOT]);
      }
      this.cursor = 0;
      this.oldest = (this.oldest + 1) % this.batches.length;
      this.batchesInFlight--;
    }
    for (const slot of this.prefetched) this.channel.abandon(slot);
    this.prefetched = [];
    this.leavesInFlight = 0;
    this.selector.cancelAllCollisions();
  }

  /** Called between whole batches alone, so that it does not depend on an evaluator's speed. */
  private allowBatches(): void {
    const affordable = Math.floor(this.tree.rootVisits / (VISITS_PER_LEAF_IN_FLIGHT * this.minibatch));
    this.allowedBatches = Math.max(this.leastBatches, Math.min(affordable, this.batches.length));
  }

  /** Nothing is gathered before they are done, so that the cache holds the same whatever an evaluator's speed. */
  private releasePrefetched(): boolean {
    const { channel, prefetched } = this;
    for (let last = prefetched.length - 1; last >= 0; last--) {
      if (!channel.isDone(prefetched[last])) return false;
      channel.release(prefetched[last]);
      prefetched.length--;
    }
    return true;
  }

  private finishLeaf(batch: VisitList, at: number, slot: number): void {
    const { tree, channel, expander, counters } = this;
    const { data } = batch;
    if (channel.columns.kind[slot] === FAILED) {
      // The visit is taken back. If another evaluator still works, the search gathers the leaf again.
      if (channel.liveEvaluators === 0) counters.failures++;
      channel.release(slot);
      cancelVisit(tree, batch, at);
      return;
    }
    const leaf = expander.expand(batch, at);
    channel.release(slot);
    if (leaf.isNetworkEvaluation) counters.evaluations++;
    if (leaf.isTablebaseHit) counters.tablebaseHits++;
    this.backUp(batch, at, leaf);
    if (data[at + ITEM_DEPTH] === 0) this.onRootExpanded();
  }

  /** @param leaf null when the visit ends at a node whose value is known */
  private backUp(list: VisitList, at: number, leaf: Readonly<Expansion> | null): void {
    const { tree, counters, rootMoves } = this;
    const depth = list.data[at + ITEM_DEPTH];
    const isRootMoveSettled = tree.backUp(list, at, leaf, this.params.stickyEndgames);
    counters.playouts++;
    counters.depthSum += depth + 1;
    if (depth + 1 > counters.maxDepth) counters.maxDepth = depth + 1;
    if (leaf?.growsTree !== true) {
      counters.knownVisits++;
      counters.knownDepthSum += depth + 1;
    }
    if (depth === 0) return;
    const root = list.data[at + ITEM_PATH] as NodeIndex;
    const child = list.data[at + ITEM_PATH + 1];
    const best = rootMoves.bestChild;
    const bestVisits = best < 0 ? 0 : getRecordVisits(tree, getChildRecord(tree, root, best));
    const visits = getRecordVisits(tree, getChildRecord(tree, root, child));
    if (isRootMoveSettled || (child !== best && bestVisits <= visits)) {
      rootMoves.bestChild = findBestEdge(tree, root, this.rootDrawScore, (edge) => rootMoves.isAllowed(edge));
    }
  }
}
