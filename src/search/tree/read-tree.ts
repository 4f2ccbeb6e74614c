/**
 * The tree by name, for code that runs once a report, once a search or once a visit: the columns of layout.ts, and which move of a
 * node is best. Only the loops of select and back up, and the tree itself, compute addresses of their own. A move is named by its
 * number in the node's edge list.
 *
 * Best (lc0: GetBestChildrenNoTemperature) are proven wins, then the undecided by visits, then value, then prior; proven losses come last.
 */
import { decodePrior } from '../../networks/leaves/index.js';
import {
  COUNT_MASK,
  DRAWN,
  getChildCount,
  getEdgeMove,
  getEdgePrior,
  getLowerBound,
  getTerminalKind,
  LOSS,
  NO_NODE,
  NODE_BLOCK,
  NODE_D,
  NODE_EDGES,
  NODE_M,
  NODE_META,
  NODE_WL,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
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
  TABLEBASE_END,
  TWO_FOLD_DRAW,
} from './layout.js';
import type { NodeValue, Tree } from './tree.js';

/** Which edges of a node are considered; absent = all. */
export type EdgeFilter = (edge: number) => boolean;

export function getMeta(tree: Tree, node: NodeIndex): number {
  return tree.store.nodeWords[node * NODE_WORDS + NODE_META];
}

export function setMeta(tree: Tree, node: NodeIndex, meta: number): void {
  tree.store.nodeWords[node * NODE_WORDS + NODE_META] = meta;
}

export function getEdgeCount(tree: Tree, node: NodeIndex): number {
  return node === NO_NODE ? 0 : getMeta(tree, node) & COUNT_MASK;
}

/** Number of visited edges, which come first. */
export function countChildren(tree: Tree, node: NodeIndex): number {
  return getChildCount(getMeta(tree, node));
}

/** Index of the first edge in the table of edges. */
export function getFirstEdge(tree: Tree, node: NodeIndex): number {
  return tree.store.nodeWords[node * NODE_WORDS + NODE_EDGES];
}

export function getMove(tree: Tree, node: NodeIndex, edge: number): number {
  return getEdgeMove(tree.store.edges[getFirstEdge(tree, node) + edge]);
}

export function getPrior(tree: Tree, node: NodeIndex, edge: number): number {
  return decodePrior(getEdgePrior(tree.store.edges[getFirstEdge(tree, node) + edge]));
}

/** Number of the edge that `move` is, visited or not; -1 when the node has none. */
export function findEdge(tree: Tree, node: NodeIndex, move: number): number {
  const count = getEdgeCount(tree, node);
  for (let edge = 0; edge < count; edge++) if (getMove(tree, node, edge) === move) return edge;
  return -1;
}

/** The record of an edge for which there is one: one of the first `countChildren`. */
export function getChildRecord(tree: Tree, node: NodeIndex, child: number): RecordIndex {
  return (tree.store.nodeWords[node * NODE_WORDS + NODE_BLOCK] + child) as RecordIndex;
}

/** The record of a visited edge, or -1: an edge without finished visits has no statistics. @param edge may be -1, for none */
export function getVisitedRecord(tree: Tree, node: NodeIndex, edge: number): RecordIndex | -1 {
  if (edge < 0 || edge >= countChildren(tree, node)) return -1;
  const record = getChildRecord(tree, node, edge);
  return getRecordVisits(tree, record) > 0 ? record : -1;
}

/** The node's own evaluation, in the view of its record. */
export function getOwnEvaluation({ store }: Tree, node: NodeIndex): NodeValue {
  const at = node * NODE_WORDS;
  return { wl: store.nodeFloats[at + NODE_WL], d: store.nodeFloats[at + NODE_D], m: store.nodeFloats[at + NODE_M] };
}

export function getRecordVisits(tree: Tree, record: RecordIndex | -1): number {
  return record === -1 ? 0 : tree.store.recordWords[record * RECORD_WORDS + RECORD_VISITS];
}

export function getInFlight(tree: Tree, record: RecordIndex): number {
  return tree.store.recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT];
}

/** The node behind an edge; NO_NODE also for no record. */
export function getRecordNode(tree: Tree, record: RecordIndex | -1): NodeIndex {
  return record === -1 ? NO_NODE : (tree.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex);
}

export function getRecordWl(tree: Tree, record: RecordIndex): number {
  return tree.store.recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
}

export function getRecordD(tree: Tree, record: RecordIndex): number {
  return tree.store.recordFloats[record * RECORD_WORDS + RECORD_D];
}

export function getRecordM(tree: Tree, record: RecordIndex): number {
  return tree.store.recordFloats[record * RECORD_WORDS + RECORD_M];
}

export function getRecordValue(tree: Tree, record: RecordIndex): NodeValue {
  return { wl: getRecordWl(tree, record), d: getRecordD(tree, record), m: getRecordM(tree, record) };
}

export function getRecordQ(tree: Tree, record: RecordIndex, drawScore: number): number {
  return getRecordWl(tree, record) + drawScore * getRecordD(tree, record);
}

export function getRecordPrior(tree: Tree, record: RecordIndex): number {
  return tree.store.recordFloats[record * RECORD_WORDS + RECORD_P];
}

export function setRecordPrior(tree: Tree, record: RecordIndex, prior: number): void {
  tree.store.recordFloats[record * RECORD_WORDS + RECORD_P] = prior;
}

export function setRecordValue({ store }: Tree, record: RecordIndex, { wl, d, m }: NodeValue): void {
  store.recordDoubles[record * RECORD_DOUBLES + RECORD_WL] = wl;
  store.recordFloats[record * RECORD_WORDS + RECORD_D] = d;
  store.recordFloats[record * RECORD_WORDS + RECORD_M] = m;
}

export function setRecordVisits(tree: Tree, record: RecordIndex, visits: number): void {
  tree.store.recordWords[record * RECORD_WORDS + RECORD_VISITS] = visits;
}

export function getRecordTerminalKind(tree: Tree, record: RecordIndex | -1): number {
  const node = getRecordNode(tree, record);
  return node === NO_NODE ? NOT_TERMINAL : getTerminalKind(getMeta(tree, node));
}

const TERMINAL_LOSS = 0;
const TABLEBASE_LOSS = 1;
const UNDECIDED = 2;
const TABLEBASE_WIN = 3;
const TERMINAL_WIN = 4;

function getRank(tree: Tree, record: RecordIndex | -1): number {
  const kind = getRecordTerminalKind(tree, record);
  if (kind === NOT_TERMINAL) return UNDECIDED;
  if (kind === TWO_FOLD_DRAW) return UNDECIDED;
  // The bounds, not the record's value: in a graph another path may have proven the node since the record was updated.
  const result = getLowerBound(getMeta(tree, getRecordNode(tree, record)));
  if (result === DRAWN) return UNDECIDED;
  if (kind === TABLEBASE_END) return result === LOSS ? TABLEBASE_LOSS : TABLEBASE_WIN;
  return result === LOSS ? TERMINAL_LOSS : TERMINAL_WIN;
}

/** The proven result of a move for the player who makes it: -1 lost, 1 won; 0 = drawn or not proven. */
export function getOutcome(tree: Tree, record: RecordIndex | -1): number {
  return Math.sign(getRank(tree, record) - UNDECIDED);
}

/** @param drawScore value of a draw for the player to move at `node` */
function isBetter(tree: Tree, node: NodeIndex, a: number, b: number, drawScore: number): boolean {
  const recordA = getVisitedRecord(tree, node, a);
  const recordB = getVisitedRecord(tree, node, b);
  const rank = getRank(tree, recordA);
  const rankB = getRank(tree, recordB);
  if (rank !== rankB) return rank > rankB;
  const mA = recordA === -1 ? 0 : getRecordM(tree, recordA);
  const mB = recordB === -1 ? 0 : getRecordM(tree, recordB);
  if (rank > UNDECIDED) return mA < mB;
  if (rank < UNDECIDED) return mA > mB;
  const kindA = getRecordTerminalKind(tree, recordA);
  const kindB = getRecordTerminalKind(tree, recordB);
  if (kindA !== NOT_TERMINAL && kindB !== NOT_TERMINAL) {
    const isTablebaseA = kindA === TABLEBASE_END;
    const isTablebaseB = kindB === TABLEBASE_END;
    return isTablebaseA === isTablebaseB ? mA < mB : isTablebaseB;
  }
  const visitsA = getRecordVisits(tree, recordA);
  const visitsB = getRecordVisits(tree, recordB);
  if (visitsA !== visitsB) return visitsA > visitsB;
  if (recordA !== -1 && recordB !== -1) {
    const qA = getRecordQ(tree, recordA, drawScore);
    const qB = getRecordQ(tree, recordB, drawScore);
    if (qA !== qB) return qA > qB;
  }
  return getPrior(tree, node, a) > getPrior(tree, node, b);
}

/** Number of the best edge of a node, -1 when it has none. */
export function findBestEdge(tree: Tree, node: NodeIndex, drawScore: number, filter?: EdgeFilter): number {
  let best = -1;
  const count = getEdgeCount(tree, node);
  for (let edge = 0; edge < count; edge++) {
    if (filter !== undefined && !filter(edge)) continue;
    if (best < 0 || isBetter(tree, node, edge, best, drawScore)) best = edge;
  }
  return best;
}

/** The `count` best edges, best first; ties keep the edge order. */
export function findBestEdges(
  tree: Tree,
  node: NodeIndex,
  drawScore: number,
  count: number,
  filter?: EdgeFilter,
): number[] {
  const ranked: number[] = [];
  while (ranked.length < count) {
    const next = findBestEdge(tree, node, drawScore, (edge) => (filter?.(edge) ?? true) && !ranked.includes(edge));
    if (next < 0) break;
    ranked.push(next);
  }
  return ranked;
}
