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
