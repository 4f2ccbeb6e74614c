/**
 * Summarises the root for the records of self-play: visits and values of its moves, and the network's own evaluation. Call it
 * after the search has answered, when the root noise is out of the priors again. Nothing here changes the tree. All values are in
 * the view of the root's mover; moves left are counted from the root.
 */

import { NOT_TERMINAL, type RecordIndex } from '../tree/layout.js';
import {
  findBestEdge,
  getEdgeCount,
  getMove,
  getOwnEvaluation,
  getPrior,
  getRecordTerminalKind,
  getRecordValue,
  getRecordVisits,
  getVisitedRecord,
  type NodeValue,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';

export interface RootMove extends NodeValue {
  readonly move: number;
  readonly prior: number;
  readonly visits: number;
  /** The value follows from the rules or from tablebases. */
  readonly isProven: boolean;
}

export interface RootSummary extends NodeValue {
  readonly visits: number;
  /** The network's evaluation of the root itself. */
  readonly own: NodeValue;
  /** All legal moves; unvisited ones come last, by falling prior, and have the root's value. */
  readonly moves: readonly RootMove[];
  /** Index of the best move. */
  readonly best: number;
}

/** @returns null when the root has no moves, or was never evaluated */
export function summariseRoot(tree: Tree): RootSummary | null {
  const root = tree.rootNode;
  const count = getEdgeCount(tree, root);
  if (count === 0) return null;
  const own = readValue(tree, tree.rootRecord, -1);
  const moves = Array.from({ length: count }, (_, edge): RootMove => {
    const record = getVisitedRecord(tree, root, edge);
    const value = record === -1 ? own : readValue(tree, record, 1);
    return {
      move: getMove(tree, root, edge),
      prior: getPrior(tree, root, edge),
      visits: getRecordVisits(tree, record),
      isProven: getRecordTerminalKind(tree, record) !== NOT_TERMINAL,
      wl: value.wl,
      d: value.d,
      m: record === -1 ? value.m : value.m + 1,
    };
  });
  return {
    ...own,
    visits: tree.rootVisits,
    own: turn(getOwnEvaluation(tree, root), -1),
    moves,
    best: findBestEdge(tree, root, 0),
  };
}

/** @param sign +1 for a move of the root; −1 for the root itself, whose record is in the opponent's view */
function readValue(tree: Tree, record: RecordIndex, sign: 1 | -1): NodeValue {
  return turn(getRecordValue(tree, record), sign);
}

function turn({ wl, d, m }: NodeValue, sign: 1 | -1): NodeValue {
  return { wl: 0 + sign * wl, d, m };
}
