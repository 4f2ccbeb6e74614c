/**
 * Leaves under way: gathers batches, sends them, and backs up finished ones strictly in the order in which they were
 * gathered. Gathering happens only between whole batches, so what is searched depends on the tree and never on how
 * fast an evaluator answers. It knows neither clocks nor limits, and it never waits.
 */
import { FAILED } from '../nn/index.js';
import { cancelVisit, getLeafRecord } from './backup.js';
import { findBestEdge } from './best-move.js';
import { Expander } from './expand.js';
import type { LeafChannel } from './leaf-channel.js';
import { LeafSender } from './leaf-sender.js';
import type { SearchParams } from './params.js';
import { computeCollisionBudget, computeDrawScore } from './puct.js';
import type { RootMoves } from './root/root-moves.js';
import { Selector } from './select.js';
import {
  NODE_BLOCK,
  NODE_WORDS,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
} from './tree/layout.js';
import type { LeafValue, Tree } from './tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, ITEM_SLOT, VisitList } from './tree/visit-list.js';
import type { WdlRescale } from './wdl-rescale.js';

/** Freed nodes a batch, in multiples of its leaves: dropped subtrees go faster than new ones come. */
const GARBAGE_PER_LEAF = 4;
/** Room asked for before a batch: rarely too little, and then a leaf is not stored. */
const RECORDS_PER_LEAF = 4;
const EDGES_PER_LEAF = 64;

export interface PipelineOptions {
  readonly minibatch: number;
  readonly batchesInFlight: number;
  readonly params: SearchParams;
}

/** Counted since `begin`. */
export interface SearchCounters {
  playouts: number;
  batches: number;
  evaluations: number;
  tablebaseHits: number;
  /** Sum over playouts of the leaf's depth, the root being 1; and the largest. */
  depthSum: number;
  maxDepth: number;
  /** Walks thrown away because every leaf that they led to was under way. */
  collisions: number;
  /** Visits that went past a leaf under way to another one. */
  detours: number;
  /** Leaves that no evaluator could answer; the first ends the search. */
  failures: number;
}

export function createCounters(): SearchCounters {
  return {
    playouts: 0,
    batches: 0,
    evaluations: 0,
    tablebaseHits: 0,
    depthSum: 0,
    maxDepth: 0,
    collisions: 0,
    detours: 0,
    failures: 0,
  };
}

export class Pipeline {
  readonly counters = createCounters();
  /** Visits of the root when the search began, less what turned out to be no draw by repetition. */
  reusedVisits = 0;
  /** Leaves that evaluators work on. */
  leavesInFlight = 0;
  /** The tree's memory is full: something must be forgotten before it can grow. */
  needsMemory = false;
  /** Called when the root has just got its edges. */
  onRootExpanded: () => void = () => undefined;

  private readonly tree: Tree;
  private readonly channel: LeafChannel;
  private readonly rootMoves: RootMoves;
  private readonly options: PipelineOptions;
  private readonly selector: Selector;
  private readonly sender: LeafSender;
  private readonly expander: Expander;
  private readonly maxOutOfOrder: number;
  /** Gathered batches, oldest first, in a ring. */
  private readonly batches: VisitList[];
  private oldest = 0;
  private batchesInFlight = 0;
  /** Where the next leaf of the oldest batch stands. */
  private cursor = 0;
  /** The last gathering found nothing to send: only a finished batch can change that. */
  private isBlocked = false;
  private rootDrawScore = 0;
  /** Value of the terminal that is being backed up. */
  private readonly terminalValue: LeafValue = { wl: 0, d: 0, m: 0, isNew: false };

  constructor(tree: Tree, channel: LeafChannel, rootRow: number, rootMoves: RootMoves, options: PipelineOptions) {
    this.tree = tree;
    this.channel = channel;
    this.rootMoves = rootMoves;
    this.options = options;
    this.sender = new LeafSender(channel, rootRow);
    this.selector = new Selector(tree, this.sender, rootMoves, options.params, channel.hasMovesLeft);
    this.expander = new Expander(tree, channel);
    this.maxOutOfOrder = Math.max(1, Math.trunc(options.params.maxOutOfOrderEvalsFactor * options.minibatch));
    this.batches = Array.from({ length: options.batchesInFlight }, () => new VisitList());
  }

  /**
   * @param rescale null when contempt changes nothing
   * @param contemptSign +1 when it favours the root's mover
   */
  begin(blackToMove: boolean, rescale: WdlRescale | null, contemptSign: number): void {
    Object.assign(this.counters, createCounters());
    this.reusedVisits = this.tree.rootVisits;
    this.isBlocked = false;
    this.rootDrawScore = computeDrawScore(this.options.params.drawScore, blackToMove, false);
    this.selector.beginSearch(blackToMove);
    this.expander.beginSearch(rescale, contemptSign);
  }

  /** An evaluator said that none could answer. */
  get hasFailed(): boolean {
    return this.counters.failures > 0;
  }

  /** Some path of this search has got as long as evaluators accept. */
  get hasReachedLongestPath(): boolean {
    return this.selector.hasReachedLongestPath;
  }

  get isIdle(): boolean {
    return this.batchesInFlight === 0;
  }

  get totalVisits(): number {
    return this.counters.playouts + this.reusedVisits;
  }

  /** Nothing is under way, and nothing can be sent: other searches over the same evaluators hold every slot. */
  get isCrowdedOut(): boolean {
    return this.isIdle && this.sender.findRoom() === 0;
  }

  /** Whether another batch may be gathered now. */
  get canGather(): boolean {
    return !this.isBlocked && this.batchesInFlight < this.batches.length;
  }

  /**
   * Gathers one batch and sends it; terminals found on the way are backed up at once.
   * @param visitBudget visits that may still be started
   * @returns playouts started or done
   */
  gather(visitBudget: number): number {
    const { tree, selector, options, counters } = this;
    const { params } = options;
    const target = Math.min(options.minibatch, this.sender.findRoom(), visitBudget);
    if (target <= 0) return 0;
    this.needsMemory = !tree.store.reserve(target, RECORDS_PER_LEAF * (target + 16), 0);
    const batch = this.batches[(this.oldest + this.batchesInFlight) % this.batches.length];
    batch.clear();
    selector.leaves = batch;
    let budget = visitBudget;
    let outOfOrder = 0;
    let isShort = false;
    // More visits than that would be searched for the sake of a full batch, far from where the search wants to go.
    const detourLimit = computeCollisionBudget(Math.min(tree.rootVisits, this.rootMoves.remainingPlayouts), params);
    selector.detourVisits = 0;
    selector.detours = 0;
    while (batch.count < target && outOfOrder < this.maxOutOfOrder && budget > 0 && !isShort) {
      const before = batch.count;
      const spentBefore = selector.detourVisits;
      const firstDetour = selector.virtualVisits.end;
      const limit = Math.min(target - before, this.maxOutOfOrder - outOfOrder, budget);
      const left = selector.pick(limit, detourLimit - spentBefore);
      budget -= batch.count - before + selector.terminals.count;
      if (!selector.terminals.isEmpty) {
        if (params.outOfOrderEval) {
          outOfOrder += selector.terminals.count;
          this.rootMoves.remainingPlayouts = Math.max(1, this.rootMoves.remainingPlayouts - selector.terminals.count);
          this.takeBackDetours(firstDetour);
          selector.detourVisits = spentBefore;
          this.backUpTerminals();
          continue;
        }
        this.queueTerminals(batch);
      }
      isShort = left > 0 || selector.detours >= params.maxCollisionEvents;
    }
    counters.detours += selector.detours;
    counters.collisions += selector.collisions;
    selector.collisions = 0;
    this.sender.flush();
    this.reusedVisits -= selector.revertedVisits;
    selector.revertedVisits = 0;
    this.leavesInFlight += batch.count;
    if (batch.count > 0) this.batchesInFlight++;
    this.isBlocked = this.batchesInFlight > 0 && (isShort || batch.count === 0);
    if (this.batchesInFlight === 0) this.cancelDetours();
    return batch.count + outOfOrder;
  }

  /**
   * Backs up finished leaves of the oldest batch, in order, until one is not finished.
   * @returns true when the batch is done
   */
  applyOldest(): boolean {
    const { tree, channel, counters } = this;
    if (this.batchesInFlight === 0) return false;
    const batch = this.batches[this.oldest];
    if (this.cursor === 0) this.needsMemory = !tree.store.reserve(batch.count, 0, EDGES_PER_LEAF * (batch.count + 2));
    for (; this.cursor < batch.end; this.cursor = batch.next(this.cursor)) {
      const slot = batch.data[this.cursor + ITEM_SLOT];
      if (slot < 0) {
        this.backUpTerminal(batch, this.cursor);
      } else {
        if (!channel.isDone(slot)) return false;
        this.finishLeaf(batch, this.cursor, slot);
      }
      this.leavesInFlight--;
    }
    this.cursor = 0;
    this.oldest = (this.oldest + 1) % this.batches.length;
    this.batchesInFlight--;
    this.isBlocked = false;
    // A finished visit opens the nodes of its path; where other paths lead to those, it opens nodes beside it, too.
    if (tree.hasOtherPaths) this.selector.closed.openAll();
    this.cancelDetours();
    counters.batches++;
    tree.collectGarbage(GARBAGE_PER_LEAF * this.options.minibatch);
    return true;
  }

  /** Takes all virtual loss back. Leaves still under way are lost. */
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
    this.leavesInFlight = 0;
    this.cancelDetours();
    this.selector.closed.openAll();
  }

  private finishLeaf(batch: VisitList, at: number, slot: number): void {
    const { tree, channel, expander, counters } = this;
    const { data } = batch;
    if (channel.kind[slot] === FAILED) {
      // While another evaluator lives, the visit is just taken back: the search gathers the leaf again.
      if (channel.liveEvaluators === 0) counters.failures++;
      this.selector.closed.openAll();
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

  private backUpTerminals(): void {
    const { terminals } = this.selector;
    for (let at = 0; at < terminals.end; at = terminals.next(at)) this.backUpTerminal(terminals, at);
    terminals.clear();
  }

  private backUpTerminal(list: VisitList, at: number): void {
    const { tree, terminalValue } = this;
    const { recordFloats, recordDoubles } = tree.store;
    const record = getLeafRecord(tree, list, at);
    terminalValue.wl = recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
    terminalValue.d = recordFloats[record * RECORD_WORDS + RECORD_D];
    terminalValue.m = recordFloats[record * RECORD_WORDS + RECORD_M];
    this.backUp(list, at, terminalValue);
  }

  /** Without out-of-order evaluation a terminal takes a place in the batch like any leaf. */
  private queueTerminals(batch: VisitList): void {
    const { terminals } = this.selector;
    for (let at = 0; at < terminals.end; at = terminals.next(at)) batch.append(terminals, at);
    terminals.clear();
  }

  private backUp(list: VisitList, at: number, leaf: Readonly<LeafValue>): void {
    const { tree, counters, rootMoves } = this;
    const depth = list.data[at + ITEM_DEPTH];
    const isRootMoveSettled = tree.backUp(list, at, leaf, this.options.params.stickyEndgames);
    this.selector.closed.openPath(list, at);
    counters.playouts++;
    counters.depthSum += depth + 1;
    if (depth + 1 > counters.maxDepth) counters.maxDepth = depth + 1;
    if (depth === 0) return;
    const root = list.data[at + ITEM_PATH] as NodeIndex;
    const child = list.data[at + ITEM_PATH + 1];
    const { nodeWords, recordWords } = tree.store;
    const block = nodeWords[root * NODE_WORDS + NODE_BLOCK];
    const best = rootMoves.bestChild;
    const bestVisits = best < 0 ? 0 : recordWords[(block + best) * RECORD_WORDS + RECORD_VISITS];
    const visits = recordWords[(block + child) * RECORD_WORDS + RECORD_VISITS];
    if (isRootMoveSettled || (child !== best && bestVisits <= visits)) {
      rootMoves.bestChild = findBestEdge(tree, root, this.rootDrawScore, (edge) => rootMoves.isAllowed(edge));
    }
  }

  private takeBackDetours(from: number): void {
    const { virtualVisits } = this.selector;
    for (let at = from; at < virtualVisits.end; at = virtualVisits.next(at)) {
      cancelVisit(this.tree, virtualVisits, at);
    }
    virtualVisits.truncate(from);
  }

  private cancelDetours(): void {
    this.takeBackDetours(0);
  }
}
