/**
 * Proven results (lc0's sticky endgames, MaybeSetBounds): derives the bounds of a node's result from those of its moves. A node
 * with a winning move, or whose moves are all proven, becomes terminal. Its moves left are those of the shortest win or the
 * longest loss.
 */

import { decodePrior } from '../../networks/leaves/index.js';
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
  NOT_TERMINAL,
  type NodeIndex,
  packEdge,
  type RecordIndex,
  TABLEBASE_END,
  TERMINAL_SHIFT,
  WIN,
  withBounds,
} from './layout.js';
import {
  getChildRecord,
  getFirstEdge,
  getMeta,
  getRecordM,
  getRecordNode,
  setMeta,
  setRecordPrior,
  setRecordValue,
} from './read-tree.js';
import type { Tree } from './tree.js';

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
  const meta = getMeta(tree, node);
  const childCount = getChildCount(meta);
  let lower = LOSS;
  let upper = childCount < (meta & COUNT_MASK) ? WIN : LOSS;
  let longestLoss = 0;
  let prefersTablebase = false;
  for (let i = 0; i < childCount; i++) {
    const childRecord = getChildRecord(tree, node, i);
    const child = getRecordNode(tree, childRecord);
    if (child === NO_NODE) {
      upper = WIN;
      continue;
    }
    const childMeta = getMeta(tree, child);
    const childLower = getLowerBound(childMeta);
    const childUpper = getUpperBound(childMeta);
    if (childLower > lower) lower = childLower;
    if (childUpper > upper) upper = childUpper;
    const isTablebase = getTerminalKind(childMeta) === TABLEBASE_END;
    if (childLower === WIN && !isTablebase) {
      prefersTablebase = false;
      break;
    }
    if (childUpper === LOSS) longestLoss = Math.max(longestLoss, getRecordM(tree, childRecord));
    prefersTablebase = prefersTablebase || isTablebase;
  }
  if (lower === LOSS && upper === WIN) return NOTHING_PROVEN;
  const bounded = withBounds(meta, -upper, -lower);
  const kind = lower !== upper ? NOT_TERMINAL : prefersTablebase ? TABLEBASE_END : END_OF_GAME;
  setMeta(tree, node, bounded | (kind << TERMINAL_SHIFT));
  if (kind === NOT_TERMINAL) return BOUNDS_SET;
  const m = (upper === LOSS ? Math.max(longestLoss, childM) : childM) + 1;
  writeTerminalValue(tree, record, -upper, m);
  return MADE_TERMINAL;
}

/** Makes the value of a record exact. @param result WIN, DRAWN or LOSS in the record's view */
export function writeTerminalValue(tree: Tree, record: RecordIndex, result: number, m: number): void {
  setRecordValue(tree, record, { wl: result, d: result === DRAWN ? 1 : 0, m });
}

/** Sets the prior of a move to 0, in its record and its edge, so that selection does not explore a proven loss. */
export function removePrior(tree: Tree, parent: NodeIndex, child: number): void {
  const { edges } = tree.store;
  const edge = getFirstEdge(tree, parent) + child;
  edges[edge] = packEdge(getEdgeMove(edges[edge]), 0);
  setRecordPrior(tree, getChildRecord(tree, parent, child), SMALLEST_PRIOR);
}
