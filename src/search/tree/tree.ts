/**
 * One search tree, or graph: the store, the root's record, and the subtrees that wait to be freed. It makes and drops nodes and
 * moves the root along played moves; what the statistics mean is the business of the four verbs. Dropping a subtree
 * costs nothing at once: its nodes are freed a few at a time by `collectGarbage`. In a graph a node is dropped when the
 * last edge that leads to it is.
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
  LOSS,
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
  TERMINAL_MASK,
  WIN,
  withBounds,
} from './layout.js';
import { NO_EDGES, type StoreOptions, TreeStore } from './store.js';

export class Tree {
  readonly store: TreeStore;
  /** Null for a tree. */
  readonly graph: GraphIndex | null;
  rootRecord: RecordIndex = NO_RECORD;
  /** Records of roots that are kept aside, oldest first. */
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
    nodeWords[at + NODE_META] = (terminalKind << 16) | bounds;
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
  private drop(node: NodeIndex): void {
    if (this.graph === null || this.graph.release(node)) this.garbage.push(node);
  }

  /** Makes the position after `move` the root. What it knows is kept, all else becomes garbage. */
  advanceRoot(move: number): void {
    if (this.graph !== null) {
      this.advanceGraphRoot(this.graph, move);
      return;
    }
    const root = this.rootNode;
    const { recordWords, recordFloats, recordDoubles, nodeWords } = this.store;
    const child = root === NO_NODE ? -1 : this.findChild(root, move);
    const to = this.rootRecord;
    let kept: NodeIndex = NO_NODE;
    if (child < 0) {
      this.forgetVisits(to);
    } else {
      const from = nodeWords[root * NODE_WORDS + NODE_BLOCK] + child;
      kept = recordWords[from * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      recordWords.copyWithin(to * RECORD_WORDS, from * RECORD_WORDS, (from + 1) * RECORD_WORDS);
      recordWords[from * RECORD_WORDS + RECORD_NODE] = NO_NODE;
      if (kept === NO_NODE) this.forgetVisits(to);
      else if ((nodeWords[kept * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0)
        this.reviveRoot(recordDoubles, recordFloats);
    }
    recordWords[to * RECORD_WORDS + RECORD_IN_FLIGHT] = 0;
    if (root !== NO_NODE) this.garbage.push(root);
  }

  private advanceGraphRoot(graph: GraphIndex, move: number): void {
    const { store } = this;
    const { nodeWords, recordWords, recordFloats, recordDoubles } = store;
    const root = this.rootNode;
    const child = root === NO_NODE ? -1 : this.findChild(root, move);
    const edge = child < 0 ? NO_RECORD : nodeWords[root * NODE_WORDS + NODE_BLOCK] + child;
    const kept = edge === NO_RECORD ? NO_NODE : (recordWords[edge * RECORD_WORDS + RECORD_NODE] as NodeIndex);
    const stats = (kept === NO_NODE ? NO_RECORD : nodeWords[kept * NODE_WORDS + NODE_STATS]) as RecordIndex;
    if (stats !== NO_RECORD) graph.hold(kept);
    if (root === NO_NODE) store.releaseBlock(this.rootRecord, 0);
    else this.drop(root);
    if (stats === NO_RECORD) {
      this.startRoot();
      return;
    }
    this.rootRecord = stats;
    if ((nodeWords[kept * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0) this.reviveRoot(recordDoubles, recordFloats);
  }

  /** Keeps the root aside and starts an empty one. @returns its record, NO_RECORD when memory is too full for that */
  parkRoot(): RecordIndex {
    const record = this.rootRecord;
    const fresh = this.store.allocateBlock(0);
    if (fresh === NO_RECORD) return NO_RECORD;
    this.resetRecord(fresh, 1);
    this.rootRecord = fresh;
    this.parked.push(record);
    return record;
  }

  /** Makes a root that was kept aside the root again; an empty one has to be there now. */
  restoreRoot(record: RecordIndex): void {
    this.parked.splice(this.parked.lastIndexOf(record), 1);
    this.store.releaseBlock(this.rootRecord, 0);
    this.rootRecord = record;
  }

  /** Frees a root that was kept aside. */
  dropParked(record: RecordIndex): void {
    const node = this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    this.parked.splice(this.parked.lastIndexOf(record), 1);
    if (this.graph === null || node === NO_NODE) this.store.releaseBlock(record, 0);
    if (node !== NO_NODE) this.drop(node);
  }

  /** The record of the edge that some moves lead over, from a root; NO_RECORD when it has no node. */
  findEdge(root: RecordIndex, moves: readonly number[]): RecordIndex {
    const { nodeWords, recordWords } = this.store;
    let record = root;
    for (const move of moves) {
      const node = recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      const child = node === NO_NODE ? -1 : this.findChild(node, move);
      if (child < 0) return NO_RECORD;
      record = (nodeWords[node * NODE_WORDS + NODE_BLOCK] + child) as RecordIndex;
    }
    return recordWords[record * RECORD_WORDS + RECORD_NODE] === NO_NODE ? NO_RECORD : record;
  }

  /** Visits of the node behind an edge. */
  getVisits(edge: RecordIndex): number {
    const { recordWords } = this.store;
    const node = recordWords[edge * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    const own = this.getStats(node, edge);
    return recordWords[(own === NO_RECORD ? edge : own) * RECORD_WORDS + RECORD_VISITS];
  }

  /**
   * Makes the node behind an edge the root; an empty one has to be there now. The edge keeps its visits and value; in a
   * tree it leads nowhere from then on, as a node has one owner there.
   */
  startFrom(edge: RecordIndex): void {
    const { recordWords, recordFloats, recordDoubles, nodeWords } = this.store;
    const node = recordWords[edge * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    if ((nodeWords[node * NODE_WORDS + NODE_META] & COUNT_MASK) === 0) return;
    if (this.graph === null) {
      const to = this.rootRecord;
      recordWords.copyWithin(to * RECORD_WORDS, edge * RECORD_WORDS, (edge + 1) * RECORD_WORDS);
      recordWords[to * RECORD_WORDS + RECORD_IN_FLIGHT] = 0;
      recordFloats[to * RECORD_WORDS + RECORD_P] = 1;
      recordWords[edge * RECORD_WORDS + RECORD_NODE] = NO_NODE;
    } else {
      this.graph.hold(node);
      this.store.releaseBlock(this.rootRecord, 0);
      this.rootRecord = this.getStats(node, edge);
    }
    if ((nodeWords[node * NODE_WORDS + NODE_META] & TERMINAL_MASK) !== 0) this.reviveRoot(recordDoubles, recordFloats);
  }

  /** An empty root; without memory for it everything is forgotten. */
  private startRoot(): void {
    this.rootRecord = this.store.allocateBlock(0);
    if (this.rootRecord === NO_RECORD) this.clear();
    else this.resetRecord(this.rootRecord, 1);
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

  /**
   * A root may not be terminal: thinking about it is the point. A proven node gets back the average of what was
   * searched below it; one that ended the game (or a line) has nothing below and will be evaluated anew.
   */
  private reviveRoot(recordDoubles: Float64Array, recordFloats: Float32Array): void {
    const { nodeWords, nodeFloats, recordWords } = this.store;
    const node = this.rootNode;
    const at = node * NODE_WORDS;
    const meta = nodeWords[at + NODE_META];
    if ((meta & COUNT_MASK) === 0) {
      this.garbage.push(node);
      this.forgetVisits(this.rootRecord);
      return;
    }
    let visits = 1;
    let wl = nodeFloats[at + NODE_WL];
    let d = nodeFloats[at + NODE_D];
    let m = nodeFloats[at + NODE_M];
    const block = nodeWords[at + NODE_BLOCK];
    const childCount = getChildCount(meta);
    for (let i = 0; i < childCount; i++) {
      const child = block + i;
      const childVisits = recordWords[child * RECORD_WORDS + RECORD_VISITS];
      visits += childVisits;
      wl -= recordDoubles[child * RECORD_DOUBLES + RECORD_WL] * childVisits;
      d += recordFloats[child * RECORD_WORDS + RECORD_D] * childVisits;
      m += (recordFloats[child * RECORD_WORDS + RECORD_M] + 1) * childVisits;
    }
    const root = this.rootRecord;
    recordWords[root * RECORD_WORDS + RECORD_VISITS] = visits;
    recordDoubles[root * RECORD_DOUBLES + RECORD_WL] = wl / visits;
    recordFloats[root * RECORD_WORDS + RECORD_D] = d / visits;
    recordFloats[root * RECORD_WORDS + RECORD_M] = m / visits;
    nodeWords[at + NODE_META] = withBounds(meta & ~TERMINAL_MASK, LOSS, WIN);
  }

  private resetRecord(record: RecordIndex, prior: number): void {
    this.forgetVisits(record);
    this.store.recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] = 0;
    this.store.recordFloats[record * RECORD_WORDS + RECORD_P] = prior;
    if (this.graph !== null) this.graph.repetitionVisits[record] = 0;
  }
}
