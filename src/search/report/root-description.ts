/**
 * Describes the root and its moves for analysis: what an info line says of each move, and also its prior, the visits along
 * its principal variation, and the spread of the evaluations below it. Nothing here changes the tree. Values are in the view
 * of the root's mover.
 *
 * The tree keeps no second moments, since the search does not need them. `computeMeanSquare` gets them from a walk over the
 * subtree: every visit backed up the evaluation of one node, so the mean square of a move is that of the nodes below it,
 * where a finished game counts once for each of its visits. Subtrees that were dropped to save memory count with their mean.
 */

import type { SearchLine } from '../protocol/search-protocol.js';
import { getChildCount, getTerminalKind, NO_NODE, NOT_TERMINAL, type RecordIndex } from '../tree/layout.js';
import {
  findBestEdge,
  findBestEdges,
  findEdge,
  getChildRecord,
  getEdgeCount,
  getMeta,
  getMove,
  getOwnEvaluation,
  getPrior,
  getRecordNode,
  getRecordTerminalKind,
  getRecordValue,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/read-tree.js';
import type { NodeValue, Tree } from '../tree/tree.js';
import { createLine, evaluate, type ReportContext } from './root-report.js';

/** The values of an info line; q is that of the search, contempt included. */
type RootValues = Pick<SearchLine, 'wl' | 'd' | 'mu' | 'q' | 'm'>;

export interface RootMoveDescription extends SearchLine {
  readonly prior: number;
  /** Visits of each move of `pv`. */
  readonly pvVisits: readonly number[];
  /** Mean square of q over the visits. */
  readonly meanSquare: number;
}

export interface RootDescription extends RootValues {
  readonly visits: number;
  readonly meanSquare: number;
  /** The network's evaluation of the root itself. */
  readonly own: RootValues;
  /** The visited moves, best first; all moves while none is visited. */
  readonly moves: readonly RootMoveDescription[];
  readonly legalMoves: readonly RootMove[];
}

/** A move of the root as it was searched; moves left are counted from the root. */
export interface RootMove extends NodeValue {
  readonly move: number;
  readonly prior: number;
  readonly visits: number;
  /** The value follows from the rules or from tablebases. */
  readonly isProven: boolean;
}

/** The root as it was searched, for the records of self-play. */
export interface RootSummary extends NodeValue {
  readonly visits: number;
  /** The network's evaluation of the root itself. */
  readonly own: NodeValue;
  /** All legal moves; unvisited ones come last, by falling prior, and have the root's value. */
  readonly moves: readonly RootMove[];
  /** Index of the best move, contempt and draw score left aside. */
  readonly best: number;
}

/** Call it when the root noise is out of the priors again. @returns null when the root has no moves, or was never evaluated */
export function summariseRoot(tree: Tree): RootSummary | null {
  const root = tree.rootNode;
  if (getEdgeCount(tree, root) === 0) return null;
  const value = turn(getRecordValue(tree, tree.rootRecord));
  const moves = Array.from({ length: getEdgeCount(tree, root) }, (_, edge): RootMove => {
    const record = getVisitedRecord(tree, root, edge);
    const { wl, d, m } = record === -1 ? value : getRecordValue(tree, record);
    return {
      move: getMove(tree, root, edge),
      prior: getPrior(tree, root, edge),
      visits: getRecordVisits(tree, record),
      isProven: getRecordTerminalKind(tree, record) !== NOT_TERMINAL,
      wl: 0 + wl,
      d,
      m: record === -1 ? m : m + 1,
    };
  });
  const own = turn(getOwnEvaluation(tree, root));
  return { ...value, visits: tree.rootVisits, own, moves, best: findBestEdge(tree, root, 0) };
}

/** The tree keeps the root's values in the view of the player who moved into it. */
function turn({ wl, d, m }: NodeValue): NodeValue {
  return { wl: 0 - wl, d, m };
}

/** @returns null when the root has no moves, or was never evaluated */
export function describeRoot(context: ReportContext, lineCount: number): RootDescription | null {
  const { tree, drawScore } = context;
  const root = summariseRoot(tree);
  if (root === null || root.visits === 0) return null;
  const { moves } = root;
  const visited = findBestEdges(tree, tree.rootNode, drawScore, lineCount, (edge) => moves[edge].visits > 0);
  const edges = visited.length > 0 ? visited : findBestEdges(tree, tree.rootNode, drawScore, moves.length);
  const known = new Map<number, number>();
  const squares = moves.map(({ visits }, edge) => {
    const record = getVisitedRecord(tree, tree.rootNode, edge);
    return record === -1 ? 0 : visits * computeMeanSquare(tree, record, drawScore, known);
  });
  const own = createValues(context, root.own);
  // The root's first visit backed up its own evaluation.
  const sumOfSquares = squares.reduce((sum, part) => sum + part, own.q * own.q);
  return {
    ...createValues(context, root),
    visits: root.visits,
    meanSquare: sumOfSquares / root.visits,
    own,
    moves: edges.map((edge) => describeMove(context, edge, moves[edge], squares[edge])),
    legalMoves: moves,
  };
}

function createValues(context: ReportContext, searched: NodeValue): RootValues {
  const { wl, d, m, q, shown } = evaluate(context, searched, 1);
  // Without contempt there is nothing to undo, so the values are shown without the errors of the fit.
  const value = context.contempt.shown.diff === 0 ? { wl, d } : { wl: 0 + shown.wl, d: shown.d };
  return { ...value, mu: shown.mu, q: 0 + q, m: context.hasMovesLeft ? m : null };
}

function describeMove(
  context: ReportContext,
  edge: number,
  { prior, visits }: RootMove,
  squares: number,
): RootMoveDescription {
  const line = createLine(context, edge);
  const meanSquare = visits === 0 ? line.q * line.q : squares / visits;
  return { ...line, ...line.searched, prior, pvVisits: readPvVisits(context.tree, line.pv), meanSquare };
}

function readPvVisits(tree: Tree, pv: readonly number[]): number[] {
  let node = tree.rootNode;
  return pv.map((move) => {
    const record = getVisitedRecord(tree, node, findEdge(tree, node, move));
    node = getRecordNode(tree, record);
    return getRecordVisits(tree, record);
  });
}

/**
 * The mean of q² over the visits of a record.
 * @param drawScore value of a draw for the player who makes the record's move
 * @param known results for nodes that several edges lead to; filled in here
 */
function computeMeanSquare(tree: Tree, record: RecordIndex, drawScore: number, known: Map<number, number>): number {
  const node = getRecordNode(tree, record);
  const meta = node === NO_NODE ? 0 : getMeta(tree, node);
  const childCount = getTerminalKind(meta) === NOT_TERMINAL ? getChildCount(meta) : 0;
  const own = tree.getStats(node, record);
  const isShared = childCount > 0 && tree.countHolders(node) > 1;
  const found = isShared ? known.get(node) : undefined;
  if (found !== undefined) return found;
  const visits = getRecordVisits(tree, own);
  let rest = visits;
  let sum = 0;
  for (let i = 0; i < childCount; i++) {
    const child = getChildRecord(tree, node, i);
    const childVisits = getRecordVisits(tree, child);
    if (childVisits === 0) continue;
    rest -= childVisits;
    const repetitions = tree.getRepetitionVisits(child);
    const square = computeMeanSquare(tree, child, -drawScore, known);
    sum += (childVisits - repetitions) * square + repetitions * drawScore * drawScore;
  }
  // Without visited children the record's mean is all there is: an evaluation, a proven result, or a dropped subtree.
  const { wl, d } = rest === visits ? getRecordValue(tree, own) : getOwnEvaluation(tree, node);
  const mean = (sum + rest * (wl + drawScore * d) ** 2) / visits;
  if (isShared) known.set(node, mean);
  return mean;
}
