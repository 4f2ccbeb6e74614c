/**
 * Memory of the tree: the three tables of layout.ts and their free lists. It knows sizes, not meanings. Tables are
 * reserved at full size where that is free (the system hands out pages at first touch), or start small and double, for
 * self-play with hundreds of trees. They grow only inside `reserve`, so that the verbs may keep views in locals.
 * When a table is full an allocation answers NO_NODE / NO_RECORD / NO_EDGES; it never throws.
 */
import {
  NO_NODE,
  NO_RECORD,
  NODE_EDGES,
  NODE_WORDS,
  type NodeIndex,
  RECORD_DOUBLES,
  RECORD_NODE,
  RECORD_WORDS,
  type RecordIndex,
} from './layout.js';

export const NO_EDGES = 0;

const NODE_BYTES = NODE_WORDS * 4;
const RECORD_BYTES = RECORD_WORDS * 4;
const EDGE_BYTES = 4;
/** Edge lists are rounded up to this many edges, so that freed lists fit others. */
const EDGES_PER_UNIT = 4;
const EDGE_CLASSES = 64;
const BLOCK_CLASSES = 9;

/** Shares of the byte limit each table may take at most; together more than 1, because trees differ in shape. */
const NODE_SHARE = 0.25;
const RECORD_SHARE = 0.4;
const EDGE_SHARE = 0.85;
/** Word indices have to stay below 2^31: 2^27 records or nodes of 8 words are not reached by any sane limit. */
const MAX_NODES = 2 ** 27;

export interface StoreOptions {
  /** Bytes the tables may touch together. */
  readonly maxBytes: number;
  /** Nodes to make room for at once; absent = everything. */
  readonly initialNodes?: number;
}

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
  private nodeCapacity = 0;
  private recordCapacity = 0;
  private edgeCapacity = 0;
  private nodeEnd = 1;
  private recordEnd = 1;
  private edgeEnd = EDGES_PER_UNIT;
  private freeNode = NO_NODE as number;
  private freeNodeCount = 0;
  private freeRecordCount = 0;
  private freeEdgeCount = 0;
  private readonly freeBlocks = new Int32Array(BLOCK_CLASSES);
  private readonly freeEdgeLists = new Int32Array(EDGE_CLASSES + 1);

  constructor(options: StoreOptions) {
    this.maxBytes = Math.max(options.maxBytes, 1 << 20);
    const wanted = options.initialNodes ?? MAX_NODES;
    let scale = 1;
    for (;;) {
      try {
        this.resize(wanted * scale);
        return;
      } catch (error) {
        if (!(error instanceof RangeError) || scale < 1e-4) throw error;
        scale /= 2;
      }
    }
  }

  /** Nodes in use. */
  get nodeCount(): number {
    return this.nodeEnd - 1 - this.freeNodeCount;
  }

  /** Bytes of all tables that have been touched; freed parts are counted, because they stay resident. */
  get usedBytes(): number {
    return this.nodeEnd * NODE_BYTES + this.recordEnd * RECORD_BYTES + this.edgeEnd * EDGE_BYTES;
  }

  /** Bytes in use, without what the free lists hold. */
  get liveBytes(): number {
    return (
      this.usedBytes -
      this.freeNodeCount * NODE_BYTES -
      this.freeRecordCount * RECORD_BYTES -
      this.freeEdgeCount * EDGE_BYTES
    );
  }

  /**
   * Makes room, growing the tables when they may. Views held in locals are stale afterwards.
   * @returns false when the limit is reached; allocations may still succeed one by one.
   */
  reserve(nodes: number, records: number, edges: number): boolean {
    if (this.hasRoom(nodes, records, edges)) return true;
    if (this.canGrow()) {
      this.resize(Math.max(this.nodeCapacity * 2, this.nodeEnd + nodes));
      if (this.hasRoom(nodes, records, edges)) return true;
    }
    return false;
  }

  allocateNode(): NodeIndex {
    const free = this.freeNode;
    if (free !== NO_NODE) {
      this.freeNode = this.nodeWords[free * NODE_WORDS + NODE_EDGES];
      this.freeNodeCount--;
      return free as NodeIndex;
    }
    if (this.nodeEnd >= this.nodeCapacity || this.usedBytes >= this.maxBytes) return NO_NODE;
    return this.nodeEnd++ as NodeIndex;
  }

  releaseNode(node: NodeIndex): void {
    this.nodeWords[node * NODE_WORDS + NODE_EDGES] = this.freeNode;
    this.freeNode = node;
    this.freeNodeCount++;
  }

  /** A block of 2^sizeClass records, their words undefined. */
  allocateBlock(sizeClass: number): RecordIndex {
    const words = this.recordWords;
    const lists = this.freeBlocks;
    const size = 1 << sizeClass;
    const free = lists[sizeClass];
    if (free !== NO_RECORD) {
      lists[sizeClass] = words[free * RECORD_WORDS + RECORD_NODE];
      this.freeRecordCount -= size;
      return free as RecordIndex;
    }
    if (this.recordEnd + size <= this.recordCapacity && this.usedBytes < this.maxBytes) {
      const block = this.recordEnd;
      this.recordEnd += size;
      return block as RecordIndex;
    }
    return this.splitBlock(sizeClass);
  }

  releaseBlock(block: RecordIndex, sizeClass: number): void {
    this.recordWords[block * RECORD_WORDS + RECORD_NODE] = this.freeBlocks[sizeClass];
    this.freeBlocks[sizeClass] = block;
    this.freeRecordCount += 1 << sizeClass;
  }

  /** Room for a list of `count` edges (at least 1), its words undefined. */
  allocateEdges(count: number): number {
    const units = (count + EDGES_PER_UNIT - 1) >> 2;
    const lists = this.freeEdgeLists;
    const free = lists[units];
    if (free !== NO_EDGES) {
      lists[units] = this.edges[free];
      this.freeEdgeCount -= units * EDGES_PER_UNIT;
      return free;
    }
    const size = units * EDGES_PER_UNIT;
    if (this.edgeEnd + size <= this.edgeCapacity && this.usedBytes < this.maxBytes) {
      const first = this.edgeEnd;
      this.edgeEnd += size;
      return first;
    }
    return this.splitEdges(units);
  }

  releaseEdges(first: number, count: number): void {
    this.releaseEdgeUnits(first, (count + EDGES_PER_UNIT - 1) >> 2);
  }

  /** Forgets everything at once. */
  clear(): void {
    this.nodeEnd = 1;
    this.recordEnd = 1;
    this.edgeEnd = EDGES_PER_UNIT;
    this.freeNode = NO_NODE;
    this.freeNodeCount = 0;
    this.freeRecordCount = 0;
    this.freeEdgeCount = 0;
    this.freeBlocks.fill(NO_RECORD);
    this.freeEdgeLists.fill(NO_EDGES);
  }

  private hasRoom(nodes: number, records: number, edges: number): boolean {
    if (this.usedBytes + nodes * NODE_BYTES + records * RECORD_BYTES + edges * EDGE_BYTES < this.maxBytes) {
      if (
        this.nodeEnd + nodes <= this.nodeCapacity &&
        this.recordEnd + records <= this.recordCapacity &&
        this.edgeEnd + edges <= this.edgeCapacity
      ) {
        return true;
      }
    }
    // Free lists hold pieces of any size: twice the need makes a failed allocation unlikely.
    return this.freeNodeCount >= nodes && this.freeRecordCount >= 2 * records && this.freeEdgeCount >= 2 * edges;
  }

  private canGrow(): boolean {
    return this.nodeCapacity < Math.floor((this.maxBytes * NODE_SHARE) / NODE_BYTES);
  }

  private resize(nodes: number): void {
    const share = Math.min(1, (nodes * NODE_BYTES) / (this.maxBytes * NODE_SHARE));
    const bytes = this.maxBytes * share;
    this.nodeCapacity = Math.floor((bytes * NODE_SHARE) / NODE_BYTES);
    this.recordCapacity = Math.floor((bytes * RECORD_SHARE) / RECORD_BYTES);
    this.edgeCapacity = Math.floor((bytes * EDGE_SHARE) / EDGE_BYTES);
    const nodeWords = new Int32Array(this.nodeCapacity * NODE_WORDS);
    const recordWords = new Int32Array(this.recordCapacity * RECORD_WORDS);
    const edges = new Int32Array(this.edgeCapacity);
    nodeWords.set(this.nodeWords.subarray(0, this.nodeEnd * NODE_WORDS));
    recordWords.set(this.recordWords.subarray(0, this.recordEnd * RECORD_WORDS));
    edges.set(this.edges.subarray(0, this.edgeEnd));
    this.nodeWords = nodeWords;
    this.nodeFloats = new Float32Array(nodeWords.buffer);
    this.recordWords = recordWords;
    this.recordFloats = new Float32Array(recordWords.buffer);
    this.recordDoubles = new Float64Array(recordWords.buffer, 0, this.recordCapacity * RECORD_DOUBLES);
    this.edges = edges;
  }

  private splitBlock(sizeClass: number): RecordIndex {
    for (let larger = sizeClass + 1; larger < BLOCK_CLASSES; larger++) {
      const block = this.freeBlocks[larger];
      if (block === NO_RECORD) continue;
      this.freeBlocks[larger] = this.recordWords[block * RECORD_WORDS + RECORD_NODE];
      this.freeRecordCount -= 1 << larger;
      for (let half = larger - 1; half >= sizeClass; half--)
        this.releaseBlock((block + (1 << half)) as RecordIndex, half);
      return block as RecordIndex;
    }
    return NO_RECORD;
  }

  private splitEdges(units: number): number {
    for (let larger = units + 1; larger <= EDGE_CLASSES; larger++) {
      const first = this.freeEdgeLists[larger];
      if (first === NO_EDGES) continue;
      this.freeEdgeLists[larger] = this.edges[first];
      this.freeEdgeCount -= larger * EDGES_PER_UNIT;
      this.releaseEdgeUnits(first + units * EDGES_PER_UNIT, larger - units);
      return first;
    }
    return NO_EDGES;
  }

  private releaseEdgeUnits(first: number, units: number): void {
    this.edges[first] = this.freeEdgeLists[units];
    this.freeEdgeLists[units] = first;
    this.freeEdgeCount += units * EDGES_PER_UNIT;
  }
}
