/**
 * One search tree, or graph: the store, the root's record, and the subtrees that wait to be freed. It makes and drops nodes;
 * which of them is the root is the business of `RootKeeper`, what the statistics mean that of the four verbs. Dropping a
 * subtree costs nothing at once: its nodes are freed a few at a time by `collectGarbage`. In a graph a node is dropped
 * when the last edge that leads to it is.
 */
import { decodePrior } from '../../nn/index.js';
import { GraphIndex } from './graph-index.js';
import {
  BLOCK_CLASS_MASK,
  BLOCK_CLASS_SHIFT,
  CHILD_COUNT_SHIFT,
  COUNT_MASK,
  FORGOTTEN_BIT,
  getChildCount,
  getEdgeMove,
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
import { NO_EDGES, type StoreOptions, TreeStore } from './store.js';

export class Tree {
  readonly store: TreeStore;
  /** Null for a tree. */
  readonly graph: GraphIndex | null;
  rootRecord: RecordIndex = NO_RECORD;
  /** Records of roots that are kept aside (root-keeper.ts), oldest first. */
  readonly parked: RecordIndex[] = [];
  /** Roots of dropped subtrees; a stack, because the newest are still in the processor's cache. */
  private readonly garbage: number[] = [];

  /** @param sharesNodes a graph: transpositions share their node */
  constructor(options: StoreOptions, sharesNodes = false) {
    this.graph = sharesNodes ? new GraphIndex() : null;
    this.store = new TreeStore(options, this.graph);
    this.clear();
  }

  get rootNode(): NodeIndex {
    return this.store.recordWords[this.rootRecord * RECORD_WORDS + RECORD_NODE] as NodeIndex;
  }

  get rootVisits(): number {
    return this.store.recordWords[this.rootRecord * RECORD_WORDS + RECORD_VISITS];
  }

  get hasGarbage(): boolean {
    return this.garbage.length > 0;
  }

  /** Forgets the whole tree at once. */
  clear(): void {
    this.garbage.length = 0;
    this.parked.length = 0;
    this.store.clear();
    this.rootRecord = this.store.allocateBlock(0);
    this.resetRecord(this.rootRecord, 1);
  }

  /** A new node without edges; NO_NODE when memory is full. Values in the view of its record. */
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
    if (this.graph !== null) nodeWords[at + NODE_STATS] = NO_RECORD;
    return node;
  }

  /** Room for the edges of a new node; the caller writes them. NO_EDGES when memory is full. */
  createEdges(node: NodeIndex, count: number): number {
    const first = this.store.allocateEdges(count);
    if (first === NO_EDGES) return NO_EDGES;
    const { nodeWords } = this.store;
    nodeWords[node * NODE_WORDS + NODE_EDGES] = first;
    nodeWords[node * NODE_WORDS + NODE_META] |= count;
    return first;
  }

  /**
   * The record of the next unvisited edge, appended to the node's block, which may move.
   * @returns NO_RECORD when memory is full.
   */
  createChild(node: NodeIndex): RecordIndex {
    const { store } = this;
    const { nodeWords } = store;
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    const childCount = getChildCount(meta);
    const sizeClass = (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK;
    let block = nodeWords[at + NODE_BLOCK] as RecordIndex;
    let newMeta = meta + ONE_CHILD;
    if (block === NO_RECORD) {
      block = store.allocateBlock(0);
      if (block === NO_RECORD) return NO_RECORD;
      nodeWords[at + NODE_BLOCK] = block;
    } else if (childCount === 1 << sizeClass) {
      if (!this.growBlock(node, sizeClass + 1)) return NO_RECORD;
      block = nodeWords[at + NODE_BLOCK] as RecordIndex;
      newMeta = nodeWords[at + NODE_META] + ONE_CHILD;
    }
    nodeWords[at + NODE_META] = newMeta;
    const record = (block + childCount) as RecordIndex;
    this.resetRecord(record, decodePrior(getEdgePrior(store.edges[nodeWords[at + NODE_EDGES] + childCount])));
    return record;
  }

  /** Makes sure that a node, the root above all, can get a record for each of its edges even when memory is full. */
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
      this.graph?.repetitionVisits.copyWithin(larger, block, block + childCount);
      store.releaseBlock(block, (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK);
    }
    nodeWords[at + NODE_BLOCK] = larger;
    nodeWords[at + NODE_META] = (meta & ~(BLOCK_CLASS_MASK << BLOCK_CLASS_SHIFT)) | (sizeClass << BLOCK_CLASS_SHIFT);
    return true;
  }

  /** Turns a record back into that of an unvisited edge; its prior stays. */
  forgetVisits(record: RecordIndex): void {
    const { recordWords, recordFloats, recordDoubles } = this.store;
    const at = record * RECORD_WORDS;
    recordDoubles[record * RECORD_DOUBLES + RECORD_WL] = 0;
    recordWords[at + RECORD_VISITS] = 0;
    recordWords[at + RECORD_NODE] = NO_NODE;
    recordFloats[at + RECORD_D] = 0;
    recordFloats[at + RECORD_M] = 0;
  }

  /** Drops the node of a leaf without edges: its record becomes that of an unvisited edge. */
  releaseLeaf(record: RecordIndex): void {
    const node = this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    this.forgetVisits(record);
    this.store.releaseNode(node);
  }

  /** Number of the child that `move` leads to, or -1 when it was never visited. */
  findChild(node: NodeIndex, move: number): number {
    const { nodeWords, edges } = this.store;
    const at = node * NODE_WORDS;
    const first = nodeWords[at + NODE_EDGES];
    const childCount = getChildCount(nodeWords[at + NODE_META]);
    for (let i = 0; i < childCount; i++) if (getEdgeMove(edges[first + i]) === move) return i;
    return -1;
  }

  /** The record of a node's own visits and values. @param record the one of the edge that led to it */
  getStats(node: NodeIndex, record: RecordIndex): RecordIndex {
    return this.graph === null ? record : (this.store.nodeWords[node * NODE_WORDS + NODE_STATS] as RecordIndex);
  }

  /**
   * Graph: gives a new node with moves its statistics, with the first visit in them, and makes it known.
   * @returns false when memory is full
   */
  share(node: NodeIndex, isRoot: boolean, keyLow: number, keyHigh: number, tag: number): boolean {
    const { store } = this;
    const graph = this.graph as GraphIndex;
    const stats = isRoot ? this.rootRecord : store.allocateBlock(0);
    if (stats === NO_RECORD) return false;
    if (!isRoot) this.resetRecord(stats, 1);
    const { nodeWords, nodeFloats, recordWords, recordFloats, recordDoubles } = store;
    const at = node * NODE_WORDS;
    nodeWords[at + NODE_STATS] = stats;
    recordWords[stats * RECORD_WORDS + RECORD_NODE] = node;
    recordWords[stats * RECORD_WORDS + RECORD_VISITS] = 1;
    recordDoubles[stats * RECORD_DOUBLES + RECORD_WL] = nodeFloats[at + NODE_WL];
    recordFloats[stats * RECORD_WORDS + RECORD_D] = nodeFloats[at + NODE_D];
    recordFloats[stats * RECORD_WORDS + RECORD_M] = nodeFloats[at + NODE_M];
    graph.describe(node, keyLow, keyHigh, tag);
    // A root may stand for a position that the graph knows by another path: the first to come keeps its name.
    if (!isRoot || graph.find(keyLow, keyHigh, tag) === NO_NODE) graph.insert(node);
    return true;
  }

  /** Lets an edge lead to a node. */
  link(record: RecordIndex, node: NodeIndex): void {
    this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] = node;
    this.graph?.hold(node);
  }

  /** Lets an edge lead nowhere. */
  unlink(record: RecordIndex): void {
    const at = record * RECORD_WORDS + RECORD_NODE;
    const node = this.store.recordWords[at] as NodeIndex;
    this.store.recordWords[at] = NO_NODE;
    if (node !== NO_NODE) this.drop(node);
  }

  /** One edge less leads to a node. */
  drop(node: NodeIndex): void {
    if (this.graph === null || this.graph.release(node)) this.discard(node);
  }

  /** Nobody holds a node any more: it and what is below it will be freed. */
  discard(node: NodeIndex): void {
    this.garbage.push(node);
  }

  /** Visits of the node behind an edge. */
  getVisits(edge: RecordIndex): number {
    const { recordWords } = this.store;
    const node = recordWords[edge * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    const own = this.getStats(node, edge);
    return recordWords[(own === NO_RECORD ? edge : own) * RECORD_WORDS + RECORD_VISITS];
  }

  /** Drops everything below a node, which keeps its evaluation, its edges and the value in its record. */
  forgetChildren(node: NodeIndex): void {
    const { nodeWords, recordWords } = this.store;
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    const childCount = getChildCount(meta);
    const block = nodeWords[at + NODE_BLOCK] as RecordIndex;
    if (block === NO_RECORD) return;
    for (let i = 0; i < childCount; i++) {
      const child = recordWords[(block + i) * RECORD_WORDS + RECORD_NODE];
      if (child !== NO_NODE) this.drop(child as NodeIndex);
    }
    this.store.releaseBlock(block, (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK);
    nodeWords[at + NODE_BLOCK] = NO_RECORD;
    const cleared = ~((COUNT_MASK << CHILD_COUNT_SHIFT) | (BLOCK_CLASS_MASK << BLOCK_CLASS_SHIFT));
    nodeWords[at + NODE_META] = (meta & cleared) | FORGOTTEN_BIT;
    this.sortEdges(nodeWords[at + NODE_EDGES], meta & COUNT_MASK);
  }

  /** By prior, descending, as unvisited edges must be: moves that were proven lost have none left and go to the end. */
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
    const { nodeWords, recordWords } = store;
    for (let budget = limit; budget > 0 && garbage.length > 0; budget--) {
      const node = garbage.pop() as NodeIndex;
      const at = node * NODE_WORDS;
      const meta = nodeWords[at + NODE_META];
      const childCount = getChildCount(meta);
      const block = nodeWords[at + NODE_BLOCK] as RecordIndex;
      if (block !== NO_RECORD) {
        for (let i = 0; i < childCount; i++) {
          const child = recordWords[(block + i) * RECORD_WORDS + RECORD_NODE];
          if (child !== NO_NODE) this.drop(child as NodeIndex);
        }
        store.releaseBlock(block, (meta >>> BLOCK_CLASS_SHIFT) & BLOCK_CLASS_MASK);
      }
      const edgeCount = meta & COUNT_MASK;
      if (edgeCount > 0) store.releaseEdges(nodeWords[at + NODE_EDGES], edgeCount);
      if (this.graph !== null && nodeWords[at + NODE_STATS] !== NO_RECORD) {
        store.releaseBlock(nodeWords[at + NODE_STATS] as RecordIndex, 0);
      }
      store.releaseNode(node);
    }
  }

  /** Makes a record that of an unvisited edge. */
  resetRecord(record: RecordIndex, prior: number): void {
    this.forgetVisits(record);
    this.store.recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] = 0;
    this.store.recordFloats[record * RECORD_WORDS + RECORD_P] = prior;
    if (this.graph !== null) this.graph.repetitionVisits[record] = 0;
  }
}
