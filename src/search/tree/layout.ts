/**
 * The tree in memory: three tables of typed arrays, indexed by plain integers. A move's statistics live in the RECORD of
 * its edge, inside a block that its parent owns, so that selection reads one contiguous block instead of a scattered
 * set of children. Nothing outside the search thread reads or writes any of it.
 *
 *   NODE (32 bytes)                RECORDS of its visited edges (32 bytes each)      EDGES, all legal moves (4 bytes each)
 *   edges ───────────────────────────────────────────────────────────────────────►  [move·65536 + prior] × edgeCount
 *   block ──────────────────────►  [wl, visits, inFlight, node, d, m, prior] × n    sorted by prior, so that the
 *   meta, own evaluation                                   │                        visited edges are a prefix:
 *      ▲                                                   │                        record i belongs to edge i
 *      └───────────────────────────────────────────────────┘
 *
 * In a GRAPH (graph-tree.ts, transposition-index.ts) edges of several nodes may lead to one node. Then the record of an edge
 * keeps the visits of that edge and a copy of the node's values; the node's own visits and values stand in a record of its
 * own, its STATS, of the same form. A node without moves has no STATS: it is not shared, and its edge's record says all.
 *
 * A record's values are from the view of the player who makes its move. The root has a record of its own that no
 * block holds. Blocks move when they grow, nodes never do: paths name (node, child number) pairs, not records.
 *
 * | node word    | meaning                                                                                    |
 * |--------------|--------------------------------------------------------------------------------------------|
 * | NODE_EDGES   | index of its first edge                                                                    |
 * | NODE_BLOCK   | index of its first record; NO_RECORD before its first child                                |
 * | NODE_META    | bits 0-7 edgeCount, 8-15 childCount, 16-17 terminal kind, 18-19 lower + 1, 20-21 upper + 1, |
 * |              | 22-25 size class of the block, 26 forgotten (its subtree was dropped to save memory),        |
 * |              | 29 indexed (transposition-index.ts)                            |
 * | NODE_WL/D/M  | float32: its own evaluation, in the same view as its record; M of a two-fold draw = cycle   |
 * | NODE_STATS   | graph: its own record; NO_RECORD without moves                                             |
 * | NODE_NEXT    | graph: the next node of its hash chain                                                     |
 *
 * | record word      | meaning                                                                                |
 * |------------------|----------------------------------------------------------------------------------------|
 * | double RECORD_WL | average of win minus loss over all visits                                              |
 * | RECORD_VISITS    | finished visits                                                                        |
 * | RECORD_IN_FLIGHT | visits under way (virtual loss), those of collisions included (visit/select.ts)         |
 * | RECORD_NODE      | the node behind the edge; NO_NODE until its evaluation is stored                       |
 * | float RECORD_D   | average draw probability                                                               |
 * | float RECORD_M   | average moves left in plies                                                            |
 * | float RECORD_P   | prior, decoded (root noise included)                                                   |
 */

export type NodeIndex = number & { readonly __node: unique symbol };
export type RecordIndex = number & { readonly __record: unique symbol };

/** Index 0 of each table is never handed out. */
export const NO_NODE = 0 as NodeIndex;
export const NO_RECORD = 0 as RecordIndex;

export const NODE_WORDS = 8;
export const NODE_EDGES = 0;
export const NODE_BLOCK = 1;
export const NODE_META = 2;
export const NODE_WL = 3;
export const NODE_D = 4;
export const NODE_M = 5;
export const NODE_STATS = 6;
export const NODE_NEXT = 7;

export const RECORD_WORDS = 8;
export const RECORD_DOUBLES = 4;
export const RECORD_WL = 0;
export const RECORD_VISITS = 2;
export const RECORD_IN_FLIGHT = 3;
export const RECORD_NODE = 4;
export const RECORD_D = 5;
export const RECORD_M = 6;
export const RECORD_P = 7;

export const COUNT_MASK = 255;
export const CHILD_COUNT_SHIFT = 8;
export const ONE_CHILD = 1 << CHILD_COUNT_SHIFT;
export const TERMINAL_SHIFT = 16;
export const LOWER_SHIFT = 18;
export const UPPER_SHIFT = 20;
export const BLOCK_CLASS_SHIFT = 22;
export const BLOCK_CLASS_MASK = 15;
export const FORGOTTEN_BIT = 1 << 26;
/** Graph: whether the index knows the node. */
export const INDEXED_BIT = 1 << 29;

/** Terminal kinds. */
export const NOT_TERMINAL = 0;
/** By the rules, or proven from children that are. */
export const END_OF_GAME = 1;
export const TABLEBASE_END = 2;
export const TWO_FOLD_DRAW = 3;
export const TERMINAL_MASK = 3 << TERMINAL_SHIFT;

/** Proven bounds of a result, in the view of the node's record. */
export const LOSS = -1;
export const DRAWN = 0;
export const WIN = 1;

export const BOUNDS_MASK = (3 << LOWER_SHIFT) | (3 << UPPER_SHIFT);
export const UNKNOWN_BOUNDS = packBounds(LOSS, WIN);

export function packBounds(lower: number, upper: number): number {
  return ((lower + 1) << LOWER_SHIFT) | ((upper + 1) << UPPER_SHIFT);
}

export function withBounds(meta: number, lower: number, upper: number): number {
  return (meta & ~BOUNDS_MASK) | packBounds(lower, upper);
}

export function getLowerBound(meta: number): number {
  return ((meta >>> LOWER_SHIFT) & 3) - 1;
}

export function getUpperBound(meta: number): number {
  return ((meta >>> UPPER_SHIFT) & 3) - 1;
}

export function getTerminalKind(meta: number): number {
  return (meta >>> TERMINAL_SHIFT) & 3;
}

export function getChildCount(meta: number): number {
  return (meta >>> CHILD_COUNT_SHIFT) & COUNT_MASK;
}

export function packEdge(move: number, prior: number): number {
  return (move << 16) | prior;
}

export function getEdgeMove(edge: number): number {
  return edge >>> 16;
}

/** The prior's 16-bit code (see networks/leaves/edge-priors.ts). */
export function getEdgePrior(edge: number): number {
  return edge & 0xffff;
}

// Visits in flight, one after another in a growing integer array: what each visit waits for, and the path it took. A path
// is stored as (node, child number) pairs from the root, because records may move.
//
//   item: [slot or a negative kind | depth | visits | node₀ child₀ | node₁ child₁ | … ]   depth pairs

/** How a visit goes on at a known node: it descends into one of the moves, or ends and the node is evaluated anew. */
export const GO_ON = 0;
export const LEAF = 1;

/** Visits that end with a known value; these kinds stand in place of a slot. */
export const TERMINAL_VISIT = -1;
/** Visits that found a leaf in flight; the path leads to its parent. */
export const COLLISION = -2;
/** Graph: the last step of the path repeats a position, which is a draw. */
export const REPETITION_VISIT = -3;
/** Graph: other paths have visited the node more often than this edge has; the visit takes the node's value. */
export const CATCH_UP_VISIT = -4;

export const ITEM_SLOT = 0;
export const ITEM_DEPTH = 1;
export const ITEM_VISITS = 2;
export const ITEM_PATH = 3;

/**
 * The path of the visit that is being walked, from the root on. Step i leads from `nodes[i]`, at depth i, to that node's
 * child number `children[i]` by the move `moves[i]`. The arrays are as long as the longest path that evaluators accept;
 * what lies beyond the current depth is left over from earlier walks.
 */
export class VisitPath {
  readonly nodes: Int32Array;
  readonly children: Uint8Array;
  readonly moves: Uint16Array;
  /** Option TwoFoldDraws: a position that occurs a second time on the path is a draw. */
  twoFoldDraws = true;

  constructor(readonly maxDepth: number) {
    this.nodes = new Int32Array(maxDepth);
    this.children = new Uint8Array(maxDepth);
    this.moves = new Uint16Array(maxDepth);
  }

  /** @param move 0 when only the nodes of the path matter */
  setStep(depth: number, node: NodeIndex, child: number, move: number): void {
    this.nodes[depth] = node;
    this.children[depth] = child;
    this.moves[depth] = move;
  }
}

export class VisitList {
  data = new Int32Array(256);
  /** Number of words in use; the next item starts here. */
  end = 0;
  count = 0;

  get isEmpty(): boolean {
    return this.end === 0;
  }

  clear(): void {
    this.end = 0;
    this.count = 0;
  }

  /** Drops the items from position `at` on. */
  truncate(at: number): void {
    this.end = at;
    this.count = 0;
    for (let item = 0; item < at; item = this.next(item)) this.count++;
  }

  /** Appends a copy of an item of another list. */
  append(other: VisitList, at: number): void {
    const size = other.next(at) - at;
    this.makeRoom(size);
    for (let i = 0; i < size; i++) this.data[this.end + i] = other.data[at + i];
    this.end += size;
    this.count++;
  }

  /** Appends an item. @returns its position */
  push(slot: number, depth: number, visits: number, path: VisitPath): number {
    const at = this.end;
    this.makeRoom(ITEM_PATH + 2 * depth);
    const { data } = this;
    const { nodes, children } = path;
    data[at + ITEM_SLOT] = slot;
    data[at + ITEM_DEPTH] = depth;
    data[at + ITEM_VISITS] = visits;
    for (let i = 0, to = at + ITEM_PATH; i < depth; i++, to += 2) {
      data[to] = nodes[i];
      data[to + 1] = children[i];
    }
    this.end = at + ITEM_PATH + 2 * depth;
    this.count++;
    return at;
  }

  /** The position of the item after the one at `at`. */
  next(at: number): number {
    return at + ITEM_PATH + 2 * this.data[at + ITEM_DEPTH];
  }

  private makeRoom(words: number): void {
    if (this.end + words <= this.data.length) return;
    const larger = new Int32Array(2 * (this.end + words));
    larger.set(this.data);
    this.data = larger;
  }
}
