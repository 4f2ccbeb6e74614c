/**
 * Which move of a node is best (lc0: GetBestChildrenNoTemperature): proven wins first and proven losses last, the others by
 * visits, then value, then prior. A move is named by its number in the node's edge list. Nothing here changes the tree.
 */
import { decodePrior } from '../../nn/leaves.js';
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
  NODE_EDGES,
  NODE_META,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TABLEBASE_END,
  TWO_FOLD_DRAW,
} from './layout.js';
import type { Tree } from './tree.js';

const TERMINAL_LOSS = 0;
const TABLEBASE_LOSS = 1;
const UNDECIDED = 2;
const TABLEBASE_WIN = 3;
const TERMINAL_WIN = 4;

/** Which edges of a node are considered; absent = all. */
export type EdgeFilter = (edge: number) => boolean;

export function getMove(tree: Tree, node: NodeIndex, edge: number): number {
  const { nodeWords, edges } = tree.store;
  return getEdgeMove(edges[nodeWords[node * NODE_WORDS + NODE_EDGES] + edge]);
}

/** Number of the edge that `move` is, visited or not; -1 when the node has none. */
export function findEdge(tree: Tree, node: NodeIndex, move: number): number {
  const count = getEdgeCount(tree, node);
  for (let edge = 0; edge < count; edge++) if (getMove(tree, node, edge) === move) return edge;
  return -1;
}

export function getPrior(tree: Tree, node: NodeIndex, edge: number): number {
  const { nodeWords, edges } = tree.store;
  return decodePrior(getEdgePrior(edges[nodeWords[node * NODE_WORDS + NODE_EDGES] + edge]));
}

export function getEdgeCount(tree: Tree, node: NodeIndex): number {
  return node === NO_NODE ? 0 : tree.store.nodeWords[node * NODE_WORDS + NODE_META] & COUNT_MASK;
}

/** The record of a visited edge, or -1: an edge without finished visits has no statistics. */
export function getVisitedRecord(tree: Tree, node: NodeIndex, edge: number): RecordIndex | -1 {
  const { nodeWords, recordWords } = tree.store;
  const at = node * NODE_WORDS;
  if (edge >= getChildCount(nodeWords[at + NODE_META])) return -1;
  const record = nodeWords[at + NODE_BLOCK] + edge;
  return recordWords[record * RECORD_WORDS + RECORD_VISITS] > 0 ? (record as RecordIndex) : -1;
}

export function getRecordVisits(tree: Tree, record: RecordIndex | -1): number {
  return record === -1 ? 0 : tree.store.recordWords[record * RECORD_WORDS + RECORD_VISITS];
}

export function getRecordQ(tree: Tree, record: RecordIndex, drawScore: number): number {
  const { recordFloats, recordDoubles } = tree.store;
  return (
    recordDoubles[record * RECORD_DOUBLES + RECORD_WL] + drawScore * recordFloats[record * RECORD_WORDS + RECORD_D]
  );
}

export function getRecordTerminalKind(tree: Tree, record: RecordIndex | -1): number {
  if (record === -1) return NOT_TERMINAL;
  const { nodeWords, recordWords } = tree.store;
  const node = recordWords[record * RECORD_WORDS + RECORD_NODE];
  return node === NO_NODE ? NOT_TERMINAL : getTerminalKind(nodeWords[node * NODE_WORDS + NODE_META]);
}

function getRank(tree: Tree, record: RecordIndex | -1): number {
  const kind = getRecordTerminalKind(tree, record);
  if (kind === NOT_TERMINAL) return UNDECIDED;
  if (kind === TWO_FOLD_DRAW) return UNDECIDED;
  // The bounds, not the record's value: in a graph another path may have proven the node since the record was updated.
  const { nodeWords, recordWords } = tree.store;
  const result = getLowerBound(nodeWords[recordWords[record * RECORD_WORDS + RECORD_NODE] * NODE_WORDS + NODE_META]);
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
  const { recordFloats } = tree.store;
  const mA = recordA < 0 ? 0 : recordFloats[recordA * RECORD_WORDS + RECORD_M];
  const mB = recordB < 0 ? 0 : recordFloats[recordB * RECORD_WORDS + RECORD_M];
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
