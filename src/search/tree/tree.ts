/**
 * The nodes of one search: the store, the root's record, and the subtrees that wait to be freed. It makes and drops nodes.
 * There are two kinds: `PlainTree`, where a node has one parent, and `GraphTree`, where transpositions share nodes. They
 * differ only in the abstract methods, so the rest of the search does not ask which kind it has.
 *
 * `RootKeeper` moves the root; the four verbs write the statistics. Dropping a subtree is quick: `collectGarbage` frees its
 * nodes later, a few at a time.
 */
import { decodePrior } from '../../networks/leaves/index.js';
import {
  BLOCK_CLASS_MASK,
  BLOCK_CLASS_SHIFT,
  CHILD_COUNT_SHIFT,
  COUNT_MASK,
  FORGOTTEN_BIT,
  getChildCount,
  getEdgePrior,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_D,
  NODE_EDGES,
  NODE_M,
  NODE_META,
  NODE_STATS,
  NODE_WL,
  NODE_WORDS,
  type NodeIndex,
  ONE_CHILD,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_IN_FLIGHT,
  RECORD_M,
  RECORD_NODE,
  RECORD_P,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TERMINAL_SHIFT,
} from './layout.js';
import { NO_EDGES, type TreeStore } from './store.js';
import type { TranspositionIndex } from './transposition-index.js';
import type { VisitList, VisitPath } from './visit-list.js';

/** Identifies a position for a graph: its 64-bit key and its tag (networks/leaves/node-tag.ts). */
export interface NodeKey {
  low: number;
  high: number;
  tag: number;
}

/** A value and what goes with it: win minus loss, draw probability, plies to the end of the game. */
export interface NodeValue {
  readonly wl: number;
  readonly d: number;
  /** 0 when the network does not say. */
  readonly m: number;
}

export abstract class Tree {
  /** The index of a graph, null for a tree: for tests. */
  abstract readonly graph: TranspositionIndex | null;
  /** Whether other paths, too, may lead to the nodes of a path. */
  abstract readonly hasOtherPaths: boolean;
  rootRecord: RecordIndex = NO_RECORD;
  /** Records of roots that `RootKeeper` has set aside, oldest first. */
  readonly parked: RecordIndex[] = [];
  /** Roots of dropped subtrees; a stack, because the newest are still in the CPU's cache. */
  private readonly garbage: number[] = [];

  constructor(readonly store: TreeStore) {
    this.clear();
  }

  /** The record of a node's own visits and values. @param edge record of the edge that led to the node */
  abstract getStats(node: NodeIndex, edge: RecordIndex): RecordIndex;

  /** Edges and roots that lead to a node. */
  abstract countHolders(node: NodeIndex): number;

  /** The node that already stands for a position and may be shared; NO_NODE = none. */
  abstract findKnown(key: NodeKey): NodeIndex;

  /** Writes the position of a new node. */
  abstract setKey(node: NodeIndex, key: NodeKey): void;

  /**
   * Prepares a new node with moves for its first visit; `link` follows.
   * @param record of the edge, or root, that the node is for
   * @returns false when memory is full
   */
  abstract introduce(node: NodeIndex, record: RecordIndex, key: NodeKey): boolean;

  /** The terminal kind of a draw. @param isOfPath the draw depends on the moves before, as by the fifty-move rule */
  abstract chooseDrawKind(isOfPath: boolean): number;

  /**
   * How a visit goes on that reaches a node: GO_ON, LEAF, or the kind of a visit that ends here (visit-list.ts).
   * @param depth of the node; the path leads to it with step `depth - 1`
   * @param started visits of the edge that led here, finished and in flight
   */
  abstract findEnd(node: NodeIndex, depth: number, started: number, path: VisitPath): number;

  /**
   * Turns a draw by repetition that no longer is one into a leaf.
   * @param depth of its parent: step `depth` of the path leads to the draw
   * @returns visits that were taken back
   */
  abstract reopenDraw(path: VisitPath, depth: number): number;

  /**
   * Finishes the visit at `at` of a list.
   * @param leaf value of the leaf that has just been evaluated, in the view of its record; null when the visit ends at a node
   * whose value is known
   * @param sticky whether proven results spread
   * @returns whether the result of the move at the root has just been proven, so that the best move may change
   */
  abstract backUp(list: VisitList, at: number, leaf: NodeValue | null, sticky: boolean): boolean;

  /**
   * Whether the position of a node at `depth` of a path lies on that path already, although the node itself does not say so.
   * @param nodes of the path, from the root on
   */
  abstract isRepetition(node: NodeIndex, depth: number, nodes: ArrayLike<number>): boolean;

  /** Visits of an edge that ended in a draw by repetition on their path, and not by the value of its node. */
  abstract getRepetitionVisits(record: RecordIndex): number;

  /** Starts a walk over the nodes, during which `meetInWalk` says whether the walk meets a node for the first time. */
  abstract beginWalk(): void;
  abstract meetInWalk(node: NodeIndex): boolean;

  /**
   * Makes the node behind an edge the root and drops the old root's node, if it has one.
   * @param edge NO_RECORD = an empty root
   */
  abstract moveRootTo(edge: RecordIndex): void;

  /** Frees the record of a root that is no longer needed, and drops its node. */
  abstract releaseRoot(record: RecordIndex): void;

  get rootNode(): NodeIndex {
    return this.store.recordWords[this.rootRecord * RECORD_WORDS + RECORD_NODE] as NodeIndex;
  }

  get rootVisits(): number {
    return this.store.recordWords[this.rootRecord * RECORD_WORDS + RECORD_VISITS];
  }

  get hasGarbage(): boolean {
    return this.garbage.length > 0;
  }

  /** Drops the whole tree at once. */
  clear(): void {
    this.garbage.length = 0;
    this.parked.length = 0;
    this.store.clear();
    this.rootRecord = this.store.allocateBlock(0);
    this.resetRecord(this.rootRecord, 1);
  }

  /** Makes a node without edges; NO_NODE when memory is full. Values are in the view of its record. */
  createNode(wl: number, d: number, m: number, terminalKind: number, bounds: number): NodeIndex {
    const node = this.store.allocateNode();
    if (node === NO_NODE) return NO_NODE;
    const at = node * NODE_WORDS;
    const { nodeWords, nodeFloats } = this.store;
    nodeWords[at + NODE_EDGES] = NO_EDGES;
    nodeWords[at + NODE_BLOCK] = NO_RECORD;
    nodeWords[at + NODE_META] = (terminalKind << TERMINAL_SHIFT) | bounds;
    nodeFloats[at + NODE_WL] = wl;
    nodeFloats[at + NODE_D] = d;
    nodeFloats[at + NODE_M] = m;
    nodeWords[at + NODE_STATS] = NO_RECORD;
    return node;
  }

  /** Allocates the edges of a new node, which the caller writes. NO_EDGES when memory is full. */
  createEdges(node: NodeIndex, count: number): number {
    const first = this.store.allocateEdges(count);
    if (first === NO_EDGES) return NO_EDGES;
    const { nodeWords } = this.store;
    nodeWords[node * NODE_WORDS + NODE_EDGES] = first;
    nodeWords[node * NODE_WORDS + NODE_META] |= count;
    return first;
  }

  /**
   * Appends a record for the next unvisited edge to the node's block, which may move.
   * @returns NO_RECORD when memory is full
   */
  createChild(node: NodeIndex): RecordIndex {
    const { store } = this;
    const { nodeWords } = store;
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    const childCount = getChildCount(meta);
    const sizeClass = (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK;
    if (nodeWords[at + NODE_BLOCK] === NO_RECORD) {
      if (!this.growBlock(node, 0)) return NO_RECORD;
    } else if (childCount === 1 << sizeClass) {
      if (!this.growBlock(node, sizeClass + 1)) return NO_RECORD;
    }
    nodeWords[at + NODE_META] += ONE_CHILD;
    const record = (nodeWords[at + NODE_BLOCK] + childCount) as RecordIndex;
    this.resetRecord(record, decodePrior(getEdgePrior(store.edges[nodeWords[at + NODE_EDGES] + childCount])));
    return record;
  }

  /** Allocates records for all edges of a node; for the root, which must be able to use them when memory is full. */
  reserveBlock(node: NodeIndex): void {
    const meta = this.store.nodeWords[node * NODE_WORDS + NODE_META];
    const wanted = Math.ceil(Math.log2(Math.max(1, meta & COUNT_MASK)));
    if (((meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK) < wanted) this.growBlock(node, wanted);
  }

  private growBlock(node: NodeIndex, sizeClass: number): boolean {
    const { store } = this;
    const { nodeWords, recordWords } = store;
    const at = node * NODE_WORDS;
    const larger = store.allocateBlock(sizeClass);
    if (larger === NO_RECORD) return false;
    const meta = nodeWords[at + NODE_META];
    const block = nodeWords[at + NODE_BLOCK] as RecordIndex;
    if (block !== NO_RECORD) {
      const from = block * RECORD_WORDS;
      const childCount = getChildCount(meta);
      recordWords.copyWithin(larger * RECORD_WORDS, from, from + childCount * RECORD_WORDS);
      store.side.copyRecords(larger, block, block + childCount);
      store.releaseBlock(block, (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK);
    }
    nodeWords[at + NODE_BLOCK] = larger;
    nodeWords[at + NODE_META] = (meta & ~(BLOCK_CLASS_MASK << BLOCK_CLASS_SHIFT)) | (sizeClass << BLOCK_CLASS_SHIFT);
    return true;
  }

  /** Resets a record to that of an unvisited edge, except for its prior and its visits in flight. */
  forgetVisits(record: RecordIndex): void {
    const { recordWords, recordFloats, recordDoubles } = this.store;
    const at = record * RECORD_WORDS;
    recordDoubles[record * RECORD_DOUBLES + RECORD_WL] = 0;
    recordWords[at + RECORD_VISITS] = 0;
    recordWords[at + RECORD_NODE] = NO_NODE;
    recordFloats[at + RECORD_D] = 0;
    recordFloats[at + RECORD_M] = 0;
  }

  /** Frees a node without edges; its record becomes that of an unvisited edge. */
  releaseLeaf(record: RecordIndex): void {
    const node = this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    this.forgetVisits(record);
    this.store.releaseNode(node);
  }

  /** Makes an edge lead to a node. */
  link(record: RecordIndex, node: NodeIndex): void {
    this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] = node;
  }

  /** Makes an edge lead nowhere. */
  unlink(record: RecordIndex): void {
    const at = record * RECORD_WORDS + RECORD_NODE;
    const node = this.store.recordWords[at] as NodeIndex;
    this.store.recordWords[at] = NO_NODE;
    if (node !== NO_NODE) this.drop(node);
  }

  /**
   * Removes an edge's or root's hold on a node. Without holders the node becomes garbage: it is left, with everything below,
   * to `collectGarbage`.
   */
  drop(node: NodeIndex): void {
    this.garbage.push(node);
  }

  /** Visits of the node behind an edge. */
  getVisits(edge: RecordIndex): number {
    const { recordWords } = this.store;
    const node = recordWords[edge * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    return recordWords[this.getStats(node, edge) * RECORD_WORDS + RECORD_VISITS];
  }

  /** Drops everything below a node, which keeps its evaluation, its edges and the value in its record. */
  forgetChildren(node: NodeIndex): void {
    const { nodeWords } = this.store;
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    if (nodeWords[at + NODE_BLOCK] === NO_RECORD) return;
    this.releaseChildren(node);
    nodeWords[at + NODE_BLOCK] = NO_RECORD;
    const cleared = ~((COUNT_MASK << CHILD_COUNT_SHIFT) | (BLOCK_CLASS_MASK << BLOCK_CLASS_SHIFT));
    nodeWords[at + NODE_META] = (meta & cleared) | FORGOTTEN_BIT;
    this.sortEdges(nodeWords[at + NODE_EDGES], meta & COUNT_MASK);
  }

  /** Drops the nodes behind a node's visited edges and frees the records of these edges. */
  private releaseChildren(node: NodeIndex): void {
    const { nodeWords, recordWords } = this.store;
    const meta = nodeWords[node * NODE_WORDS + NODE_META];
    const block = nodeWords[node * NODE_WORDS + NODE_BLOCK] as RecordIndex;
    if (block === NO_RECORD) return;
    const childCount = getChildCount(meta);
    for (let i = 0; i < childCount; i++) {
      const child = recordWords[(block + i) * RECORD_WORDS + RECORD_NODE];
      if (child !== NO_NODE) this.drop(child as NodeIndex);
    }
    this.store.releaseBlock(block, (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK);
  }

  /** Sorts edges by falling prior, as unvisited ones must be. Moves that were proven lost have prior 0 and go to the end. */
  private sortEdges(first: number, count: number): void {
    const { edges } = this.store;
    for (let i = first + 1; i < first + count; i++) {
      const edge = edges[i];
      let to = i;
      for (; to > first && getEdgePrior(edges[to - 1]) < getEdgePrior(edge); to--) edges[to] = edges[to - 1];
      edges[to] = edge;
    }
  }

  /** Frees up to `limit` nodes of dropped subtrees. */
  collectGarbage(limit: number): void {
    const { garbage, store } = this;
    const { nodeWords } = store;
    for (let budget = limit; budget > 0 && garbage.length > 0; budget--) {
      const node = garbage.pop() as NodeIndex;
      const at = node * NODE_WORDS;
      this.releaseChildren(node);
      const edgeCount = nodeWords[at + NODE_META] & COUNT_MASK;
      if (edgeCount > 0) store.releaseEdges(nodeWords[at + NODE_EDGES], edgeCount);
      const stats = nodeWords[at + NODE_STATS] as RecordIndex;
      if (stats !== NO_RECORD) store.releaseBlock(stats, 0);
      store.releaseNode(node);
    }
  }

  /** Makes a record that of an unvisited edge. */
  resetRecord(record: RecordIndex, prior: number): void {
    this.forgetVisits(record);
    this.store.recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] = 0;
    this.store.recordFloats[record * RECORD_WORDS + RECORD_P] = prior;
    this.store.side.resetRecord(record);
  }
}
