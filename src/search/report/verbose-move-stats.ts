/**
 * The statistics of the root's moves as data, for VerboseMoveStats (lc0: GetVerboseStats). Nothing here changes the tree. All
 * values are in the view of the root's mover. uci/ makes the text.
 */

import { rescaled, unscaleWdl } from '../formulas/wdl-rescale.js';
import type { MoveStats, StatsBound } from '../limits/search-protocol.js';
import {
  computeRootExploration,
  computeRootFpu,
  computeVisitedPrior,
  createRootMovesLeft,
} from '../root/root-utility.js';
import {
  getEdgeCount,
  getMove,
  getPrior,
  getRecordQ,
  getRecordTerminalKind,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/best-move.js';
import {
  DRAWN,
  getChildCount,
  getLowerBound,
  getUpperBound,
  LOSS,
  NO_NODE,
  NODE_BLOCK,
  NODE_META,
  NODE_WL,
  NODE_WORDS,
  NOT_TERMINAL,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_IN_FLIGHT,
  RECORD_M,
  RECORD_NODE,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  WIN,
} from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';
import type { ReportContext } from './search-info.js';

/** A row for each move of the root, ascending by visits and then Q + U, and a row for the root itself. */
export function createMoveStats(context: ReportContext): { rows: MoveStats[]; node: MoveStats } {
  const { tree, params, drawScore } = context;
  const root = tree.rootNode;
  const edgeCount = getEdgeCount(tree, root);
  const own = readRecord(tree, tree.rootRecord);
  const fpu = computeRootFpu(tree, params, drawScore);
  const exploration = computeRootExploration(tree, params);
  const computeMovesLeft = createRootMovesLeft(tree, params, context.hasMovesLeft);

  const keyed = Array.from({ length: edgeCount }, (_, edge) => {
    const record = getVisitedRecord(tree, root, edge);
    const visits = getRecordVisits(tree, record);
    const inFlight = getInFlight(tree, edge);
    const prior = getPrior(tree, root, edge);
    const q = record === -1 ? fpu : getRecordQ(tree, record, drawScore);
    const u = (prior * exploration) / (1 + visits + inFlight);
    const shown = createShownValues(context, record, 1);
    const row: MoveStats = {
      move: getMove(tree, root, edge),
      edgeCount: 0,
      visits,
      inFlight,
      prior,
      wl: shown?.wl ?? null,
      d: shown?.d ?? null,
      m: record === -1 ? null : readRecord(tree, record).m,
      mu: shown?.mu ?? null,
      q: shown === null ? fpu : shown.wl + drawScore * shown.d,
      u,
      s: q + u + computeMovesLeft(record, q),
      v: record === -1 ? null : getRawValue(context, record),
      bound: record === -1 ? 'none' : getBound(tree, record),
    };
    return { row, key: q + u };
  });
  keyed.sort((a, b) => a.row.visits - b.row.visits || a.key - b.key);

  const shown = createShownValues(context, own.visits > 0 ? tree.rootRecord : -1, -1);
  const node: MoveStats = {
    move: 0,
    edgeCount,
    visits: own.visits,
    inFlight: own.inFlight,
    prior: computeVisitedPrior(tree),
    wl: shown?.wl ?? null,
    d: shown?.d ?? null,
    m: shown === null ? null : own.m,
    mu: shown?.mu ?? null,
    q: shown === null ? 0 : shown.wl + drawScore * shown.d,
    u: null,
    s: null,
    v: root === NO_NODE ? null : -tree.store.nodeFloats[root * NODE_WORDS + NODE_WL],
    bound: 'none',
  };
  return { rows: keyed.map(({ row }) => row), node };
}

function readRecord(
  tree: Tree,
  record: RecordIndex,
): { visits: number; inFlight: number; wl: number; d: number; m: number } {
  const { recordWords, recordFloats, recordDoubles } = tree.store;
  const at = record * RECORD_WORDS;
  return {
    visits: getRecordVisits(tree, record),
    inFlight: recordWords[at + RECORD_IN_FLIGHT],
    wl: recordDoubles[record * RECORD_DOUBLES + RECORD_WL],
    d: recordFloats[at + RECORD_D],
    m: recordFloats[at + RECORD_M],
  };
}

function getInFlight(tree: Tree, rootEdge: number): number {
  const { nodeWords, recordWords } = tree.store;
  const at = tree.rootNode * NODE_WORDS;
  if (rootEdge >= getChildCount(nodeWords[at + NODE_META])) return 0;
  return recordWords[(nodeWords[at + NODE_BLOCK] + rootEdge) * RECORD_WORDS + RECORD_IN_FLIGHT];
}

/** Values without contempt. @param sign -1 for the root's own record, which is in the opponent's view */
function createShownValues(
  context: ReportContext,
  record: RecordIndex | -1,
  sign: number,
): { wl: number; d: number; mu: number } | null {
  if (record === -1) return null;
  const { wl, d } = readRecord(context.tree, record);
  unscaleWdl(sign * wl, d, context.rescale, context.contemptSign);
  return { wl: rescaled.wl, d: rescaled.d, mu: rescaled.mu };
}

/** The network's evaluation of the position after a move; a terminal has its exact value. */
function getRawValue(context: ReportContext, record: RecordIndex): number | null {
  const { tree, drawScore } = context;
  if (getRecordTerminalKind(tree, record) !== NOT_TERMINAL) return getRecordQ(tree, record, drawScore);
  const node = tree.store.recordWords[record * RECORD_WORDS + RECORD_NODE];
  return node === NO_NODE ? null : tree.store.nodeFloats[node * NODE_WORDS + NODE_WL];
}

function getBound(tree: Tree, record: RecordIndex): StatsBound {
  const node = tree.store.recordWords[record * RECORD_WORDS + RECORD_NODE];
  if (node === NO_NODE) return 'none';
  const meta = tree.store.nodeWords[node * NODE_WORDS + NODE_META];
  const lower = getLowerBound(meta);
  const upper = getUpperBound(meta);
  if (lower === upper) return 'exact';
  if (lower === DRAWN && upper === WIN) return 'drawOrWin';
  return lower === LOSS && upper === DRAWN ? 'lossOrDraw' : 'none';
}
