/**
 * The memory of a tree: the three tables of layout.ts and their free lists. It knows sizes, not meanings. The tables are
 * allocated at full size, which costs nothing because the system provides pages at first touch, or start small and double,
 * for self-play with hundreds of trees. Tables grow only inside `reserve`, so that the verbs may keep views in locals. When a
 * table is full, allocations return NO_NODE, NO_RECORD or NO_EDGES; they never throw.
 */
import { Arena } from './arena.js';
import {
  NO_NODE,
  NODE_EDGES,
  NODE_WORDS,
  type NodeIndex,
  RECORD_DOUBLES,
  RECORD_WORDS,
  type RecordIndex,
} from './layout.js';

export const NO_EDGES = 0;

const NODE_BYTES = NODE_WORDS * 4;
const RECORD_BYTES = RECORD_WORDS * 4;
const EDGE_BYTES = 4;
/** Edge lists are rounded up to this many edges, so that freed lists fit others. */
const EDGES_PER_UNIT = 4;
const UNIT_SHIFT = 2;

/** Shares of the byte limit that each table may take at most. Their sum exceeds 1, because trees differ in shape. */
const NODE_SHARE = 0.25;
const EDGE_SHARE = 0.85;
/** Share of the byte limit reserved for large blocks: at the limit a search needs few of them, but cannot do without. */
const LARGE_BLOCK_SHARE = 0.03;
const LARGE_BLOCK_CLASS = 3;
/** With less than this share of a table free, a list of the needed size is often missing. */
const FREE_SHARE = 0.02;
/** Word indices have to stay below 2^31. */
const MAX_NODES = 2 ** 27;

export interface StoreOptions {
  /** Limit of the bytes that all tables touch together. */
  readonly maxBytes: number;
  /** Nodes to make room for at first; absent = as many as the limit allows. */
  readonly initialNodes?: number;
}

/** Columns beside the store's tables, indexed by node or by record, that grow with them and count against the limit. */
export interface SideTables {
  /** Bytes for each node and record. */
  readonly nodeBytes: number;
  readonly recordBytes: number;
  /** Share of the byte limit that records, with these columns, may take at most. */
  readonly recordShare: number;
  clear(): void;
  resetRecord(record: RecordIndex): void;
  /** Copies the columns of the records from `start` up to `end` to `to`. */
  copyRecords(to: RecordIndex, start: RecordIndex, end: number): void;
  /**
   * Allocates columns for the store's larger tables and copies what is in use; may throw a RangeError.
   * @returns a function that switches to them and cannot fail
   */
  prepareGrowth(nodeWords: Int32Array, nodeEnd: number, recordCapacity: number, recordEnd: number): () => void;
}

const NO_SIDE_TABLES: SideTables = {
  nodeBytes: 0,
  recordBytes: 0,
  recordShare: 0.4,
  clear: () => undefined,
  resetRecord: () => undefined,
  copyRecords: () => undefined,
  prepareGrowth: () => () => undefined,
};

export class TreeStore {
  nodeWords: Int32Array = new Int32Array(0);
  /** The same memory as `nodeWords`. */
  nodeFloats: Float32Array = new Float32Array(0);
  recordWords: Int32Array = new Int32Array(0);
  /** The same memory as `recordWords`. */
  recordFloats: Float32Array = new Float32Array(0);
  recordDoubles: Float64Array = new Float64Array(0);
  edges: Int32Array = new Int32Array(0);

  private readonly maxBytes: number;
  private readonly nodeBytes: number;
  private readonly recordBytes: number;
  /** The byte limit for everything but large blocks. */
  private readonly limitBytes: number;
  private readonly records = new Arena(RECORD_WORDS);
  private readonly edgeLists = new Arena(EDGES_PER_UNIT);
  private nodeCapacity = 0;
  private nodeEnd = 1;
  private freeNode = NO_NODE as number;
  private freeNodeCount = 0;
  /** The system has refused larger tables, so the store does not ask again. */
  private isRefused = false;

  constructor(
    options: StoreOptions,
    readonly side: SideTables = NO_SIDE_TABLES,
  ) {
    this.nodeBytes = NODE_BYTES + side.nodeBytes;
    this.recordBytes = RECORD_BYTES + side.recordBytes;
    this.maxBytes = Math.max(options.maxBytes, 1 << 20);
    this.limitBytes = this.maxBytes * (1 - LARGE_BLOCK_SHARE);
    const wanted = options.initialNodes ?? MAX_NODES;
    // If the system refuses so much memory at once, the store starts smaller and grows.
    for (let scale = 1; !this.tryResize(wanted * scale); scale /= 2) {
      if (scale < 1e-4) throw new RangeError('There is no memory for the search tree');
    }
  }

  /** Number of nodes in use. */
  get nodeCount(): number {
    return this.nodeEnd - 1 - this.freeNodeCount;
  }

  /** Bytes of all tables that have been touched. Freed parts count, because they stay resident. */
  get usedBytes(): number {
    const edgeBytes = this.edgeLists.end * EDGES_PER_UNIT * EDGE_BYTES;
    return this.nodeEnd * this.nodeBytes + this.records.end * this.recordBytes + edgeBytes;
  }

  /**
   * Makes room, growing the tables if the limit allows. Views held in locals are stale afterwards.
   * @returns false when there is no room for all of it; single allocations may still succeed
   */
  reserve(nodes: number, records: number, edges: number): boolean {
    if (this.hasRoom(nodes, records, edges)) return true;
    if (this.isRefused || this.nodeCapacity >= this.computeCapacity(NODE_SHARE, this.nodeBytes)) return false;
    this.isRefused = !this.tryResize(Math.max(this.nodeCapacity * 2, this.nodeEnd + nodes));
    return this.hasRoom(nodes, records, edges);
  }

  allocateNode(): NodeIndex {
    const free = this.freeNode;
    if (free !== NO_NODE) {
      this.freeNode = this.nodeWords[free * NODE_WORDS + NODE_EDGES];
      this.freeNodeCount--;
      return free as NodeIndex;
    }
    if (this.nodeEnd >= this.nodeCapacity || this.usedBytes >= this.limitBytes) return NO_NODE;
    return this.nodeEnd++ as NodeIndex;
  }

  releaseNode(node: NodeIndex): void {
    this.nodeWords[node * NODE_WORDS + NODE_EDGES] = this.freeNode;
    this.freeNode = node;
    this.freeNodeCount++;
  }

  /** Allocates a block of 2^sizeClass records with undefined contents. */
  allocateBlock(sizeClass: number): RecordIndex {
    const limit = sizeClass < LARGE_BLOCK_CLASS ? this.limitBytes : this.maxBytes;
    return this.records.allocate(1 << sizeClass, this.usedBytes < limit) as RecordIndex;
  }

  releaseBlock(block: RecordIndex, sizeClass: number): void {
    this.records.release(block, 1 << sizeClass);
  }

  /** Allocates a list of `count` edges (at least 1) with undefined contents. */
  allocateEdges(count: number): number {
    const units = (count + EDGES_PER_UNIT - 1) >> UNIT_SHIFT;
    return this.edgeLists.allocate(units, this.usedBytes < this.limitBytes) << UNIT_SHIFT;
  }

  releaseEdges(first: number, count: number): void {
    this.edgeLists.release(first >> UNIT_SHIFT, (count + EDGES_PER_UNIT - 1) >> UNIT_SHIFT);
  }

  /** Frees everything at once. */
  clear(): void {
    this.nodeEnd = 1;
    this.freeNode = NO_NODE;
    this.freeNodeCount = 0;
    this.records.clear();
    this.side.clear();
    this.edgeLists.clear();
  }

  private hasRoom(nodes: number, records: number, edges: number): boolean {
    const edgeUnits = edges >> UNIT_SHIFT;
    const bytes = nodes * this.nodeBytes + records * this.recordBytes + edges * EDGE_BYTES;
    const fitsAtEnd =
      this.usedBytes + bytes < this.limitBytes &&
      this.nodeEnd + nodes <= this.nodeCapacity &&
      records <= this.records.room &&
      edgeUnits <= this.edgeLists.room;
    return (
      fitsAtEnd ||
      (this.freeNodeCount >= nodes &&
        this.records.freeUnits >= Math.max(2 * records, FREE_SHARE * this.records.end) &&
        this.edgeLists.freeUnits >= Math.max(2 * edgeUnits, FREE_SHARE * this.edgeLists.end))
    );
  }

  private computeCapacity(share: number, itemBytes: number): number {
    return Math.floor((this.maxBytes * share) / itemBytes);
  }

  /** @returns false when the system refuses the memory; then nothing has changed */
  private tryResize(nodes: number): boolean {
    try {
      this.resize(nodes);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }

  private resize(nodes: number): void {
    const scale = Math.min(1, nodes / this.computeCapacity(NODE_SHARE, this.nodeBytes));
    const nodeCapacity = Math.ceil(scale * this.computeCapacity(NODE_SHARE, this.nodeBytes));
    const recordCapacity = Math.ceil(scale * this.computeCapacity(this.side.recordShare, this.recordBytes));
    const edgeUnits = Math.ceil(scale * this.computeCapacity(EDGE_SHARE, EDGE_BYTES * EDGES_PER_UNIT));
    const nodeWords = new Int32Array(nodeCapacity * NODE_WORDS);
    const recordWords = new Int32Array(recordCapacity * RECORD_WORDS);
    const edges = new Int32Array(edgeUnits * EDGES_PER_UNIT);
    nodeWords.set(this.nodeWords.subarray(0, this.nodeEnd * NODE_WORDS));
    recordWords.set(this.recordWords.subarray(0, this.records.end * RECORD_WORDS));
    edges.set(this.edges.subarray(0, this.edgeLists.end * EDGES_PER_UNIT));
    // Everything is allocated before anything is changed, so that a refusal changes nothing.
    const followers = [
      this.records.prepareGrowth(recordWords, recordCapacity),
      this.edgeLists.prepareGrowth(edges, edgeUnits),
      this.side.prepareGrowth(nodeWords, this.nodeEnd, recordCapacity, this.records.end),
    ];
    this.nodeCapacity = nodeCapacity;
    this.nodeWords = nodeWords;
    this.nodeFloats = new Float32Array(nodeWords.buffer);
    this.recordWords = recordWords;
    this.recordFloats = new Float32Array(recordWords.buffer);
    this.recordDoubles = new Float64Array(recordWords.buffer, 0, recordCapacity * RECORD_DOUBLES);
    this.edges = edges;
    for (const follow of followers) follow();
  }
}
