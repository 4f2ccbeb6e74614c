/** The statistics of the root's moves, for VerboseMoveStats (lc0: GetVerboseStats). */

import type { MoveStats, StatsBound } from '../protocol/search-protocol.js';
import {
  computeRootExploration,
  computeRootFpu,
  computeVisitedPrior,
  createRootMovesLeft,
} from '../root/root-utility.js';
import {
  DRAWN,
  getLowerBound,
  getUpperBound,
  LOSS,
  NO_NODE,
  NOT_TERMINAL,
  type RecordIndex,
  WIN,
} from '../tree/layout.js';
import {
  countChildren,
  getChildRecord,
  getEdgeCount,
  getInFlight,
  getMeta,
  getMove,
  getOwnEvaluation,
  getPrior,
  getRecordNode,
  getRecordQ,
  getRecordTerminalKind,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import { evaluate, type ReportContext, type RootValue } from './root-report.js';

/** A row for each move of the root, ascending by visits and then Q + U, and a row for the root itself. */
export function createMoveStats(context: ReportContext): { rows: MoveStats[]; node: MoveStats } {
  const { tree, params, drawScore } = context;
  const root = tree.rootNode;
  const edgeCount = getEdgeCount(tree, root);
  const fpu = computeRootFpu(tree, params, drawScore);
  const exploration = computeRootExploration(tree, params);
  const computeMovesLeft = createRootMovesLeft(tree, params, context.hasMovesLeft);

  const keyed = Array.from({ length: edgeCount }, (_, edge) => {
    const record = getVisitedRecord(tree, root, edge);
    const visits = getRecordVisits(tree, record);
    const inFlight = edge < countChildren(tree, root) ? getInFlight(tree, getChildRecord(tree, root, edge)) : 0;
    const prior = getPrior(tree, root, edge);
    const value = record === -1 ? null : evaluate(context, record, 1);
    const q = value?.q ?? fpu;
    const u = (prior * exploration) / (1 + visits + inFlight);
    const row: MoveStats = {
      ...showValue(value, drawScore, fpu),
      move: getMove(tree, root, edge),
      index: 0,
      visits,
      inFlight,
      prior,
      u,
      s: q + u + computeMovesLeft(record, q),
      v: record === -1 ? null : getRawValue(context, record),
      bound: getBound(tree, record),
    };
    return { row, key: q + u };
  });
  keyed.sort((a, b) => a.row.visits - b.row.visits || a.key - b.key);

  const node: MoveStats = {
    ...showValue(tree.rootVisits > 0 ? evaluate(context, tree.rootRecord, -1) : null, drawScore, 0),
    move: 0,
    index: edgeCount,
    visits: tree.rootVisits,
    inFlight: getInFlight(tree, tree.rootRecord),
    prior: computeVisitedPrior(tree),
    u: null,
    s: null,
    v: root === NO_NODE ? null : -getOwnEvaluation(tree, root).wl,
    bound: 'none',
  };
  return { rows: keyed.map(({ row }) => row), node };
}

/** @param fpu the value of a move without one */
function showValue(
  value: RootValue | null,
  drawScore: number,
  fpu: number,
): Pick<MoveStats, 'wl' | 'd' | 'm' | 'mu' | 'q'> {
  if (value === null) return { wl: null, d: null, m: null, mu: null, q: fpu };
  const { m, shown } = value;
  return { ...shown, m, q: shown.wl + drawScore * shown.d };
}

/** The network's evaluation of the position after a move; a terminal has its exact value. */
function getRawValue({ tree, drawScore }: ReportContext, record: RecordIndex): number | null {
  if (getRecordTerminalKind(tree, record) !== NOT_TERMINAL) return getRecordQ(tree, record, drawScore);
  const node = getRecordNode(tree, record);
  return node === NO_NODE ? null : getOwnEvaluation(tree, node).wl;
}

function getBound(tree: Tree, record: RecordIndex | -1): StatsBound {
  const node = getRecordNode(tree, record);
  if (node === NO_NODE) return 'none';
  const meta = getMeta(tree, node);
  const lower = getLowerBound(meta);
  const upper = getUpperBound(meta);
  if (lower === upper) return 'exact';
  if (lower === DRAWN && upper === WIN) return 'drawOrWin';
  return lower === LOSS && upper === DRAWN ? 'lossOrDraw' : 'none';
}
