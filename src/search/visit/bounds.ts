/**
 * Proven results (lc0's sticky endgames, MaybeSetBounds): derives the bounds of a node's result from those of its moves. A
 * node with a winning move, or whose moves are all proven, becomes terminal. Its moves left are those of the shortest win
 * or the longest loss.
 */
import { decodePrior } from '../../nn/leaves.js';
import {
  COUNT_MASK,
  DRAWN,
  END_OF_GAME,
  getChildCount,
  getEdgeMove,
  getLowerBound,
  getTerminalKind,
  getUpperBound,
  LOSS,
  NO_NODE,
  NODE_BLOCK,
  NODE_EDGES,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  packEdge,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_NODE,
  RECORD_P,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TABLEBASE_END,
  TERMINAL_SHIFT,
  WIN,
  withBounds,
} from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';

export const NOTHING_PROVEN = 0;
export const BOUNDS_SET = 1;
export const MADE_TERMINAL = 2;

const SMALLEST_PRIOR = decodePrior(0);

/**
 * Updates the bounds of `node` from those of its moves.
 * @param record the node's own record; its value becomes exact when the node becomes terminal
 * @param childM moves left of the move whose result has just been proven
 * @returns NOTHING_PROVEN, BOUNDS_SET or MADE_TERMINAL
 */
export function settleNode(tree: Tree, node: NodeIndex, record: RecordIndex, childM: number): number {
  const { nodeWords, recordWords, recordFloats } = tree.store;
  const at = node * NODE_WORDS;
  const meta = nodeWords[at + NODE_META];
  const block = nodeWords[at + NODE_BLOCK];
  const childCount = getChildCount(meta);
  let lower = LOSS;
  let upper = childCount < (meta & COUNT_MASK) ? WIN : LOSS;
  let longestLoss = 0;
  let prefersTablebase = false;
  for (let i = 0; i < childCount; i++) {
    const childAt = (block + i) * RECORD_WORDS;
    const child = recordWords[childAt + RECORD_NODE];
    if (child === NO_NODE) {
      upper = WIN;
      continue;
    }
    const childMeta = nodeWords[child * NODE_WORDS + NODE_META];
    const childLower = getLowerBound(childMeta);
    const childUpper = getUpperBound(childMeta);
    if (childLower > lower) lower = childLower;
    if (childUpper > upper) upper = childUpper;
    const isTablebase = getTerminalKind(childMeta) === TABLEBASE_END;
    if (childLower === WIN && !isTablebase) {
      prefersTablebase = false;
      break;
    }
    if (childUpper === LOSS && recordFloats[childAt + RECORD_M] > longestLoss) {
      longestLoss = recordFloats[childAt + RECORD_M];
    }
    prefersTablebase = prefersTablebase || isTablebase;
  }
  if (lower === LOSS && upper === WIN) return NOTHING_PROVEN;
  nodeWords[at + NODE_META] = withBounds(meta, -upper, -lower);
  if (lower !== upper) return BOUNDS_SET;
  const kind = prefersTablebase ? TABLEBASE_END : END_OF_GAME;
  nodeWords[at + NODE_META] |= kind << TERMINAL_SHIFT;
  const m = (upper === LOSS ? Math.max(longestLoss, childM) : childM) + 1;
  writeTerminalValue(tree, record, -upper, m);
  return MADE_TERMINAL;
}

/** Makes the value of a record exact. @param result WIN, DRAWN or LOSS in the record's view */
export function writeTerminalValue(tree: Tree, record: RecordIndex, result: number, m: number): void {
  const { recordFloats, recordDoubles } = tree.store;
  recordDoubles[record * RECORD_DOUBLES + RECORD_WL] = result;
  recordFloats[record * RECORD_WORDS + RECORD_D] = result === DRAWN ? 1 : 0;
  recordFloats[record * RECORD_WORDS + RECORD_M] = m;
}

/** Sets the prior of a move to 0, in its record and its edge, so that selection does not explore a proven loss. */
export function removePrior(tree: Tree, parent: NodeIndex, child: number): void {
  const { nodeWords, recordFloats, edges } = tree.store;
  const edge = nodeWords[parent * NODE_WORDS + NODE_EDGES] + child;
  edges[edge] = packEdge(getEdgeMove(edges[edge]), 0);
  recordFloats[(nodeWords[parent * NODE_WORDS + NODE_BLOCK] + child) * RECORD_WORDS + RECORD_P] = SMALLEST_PRIOR;
}
