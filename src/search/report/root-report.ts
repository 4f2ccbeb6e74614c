/**
 * The root as reports show it, as data: info lines (lc0: SendUciInfo) and the statistics of its moves. Nothing here changes the tree.
 * All values are in the view of the root's mover. engine/ turns them into scores, uci/ into text.
 */
import type { Contempt } from '../formulas/contempt.js';
import { rescaled, unscaleWdl } from '../formulas/wdl-rescale.js';
import type { SearchInfo, SearchLine } from '../protocol/search-protocol.js';
import { computeAverageDepth, type IterationStats, type RootContext } from '../root/iteration-stats.js';
import { NO_NODE, type NodeIndex, type RecordIndex, TABLEBASE_END } from '../tree/layout.js';
import {
  findBestEdge,
  findBestEdges,
  findEdge,
  getMove,
  getOutcome,
  getRecordNode,
  getRecordTerminalKind,
  getRecordValue,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/read-tree.js';
import type { NodeValue, Tree } from '../tree/tree.js';

export interface ReportContext extends RootContext {
  readonly contempt: Contempt;
}

/** A value in the view of the root's mover: as it was searched, and without contempt, as it is shown. */
export interface RootValue extends NodeValue {
  /** wl + drawScore · d, contempt included. */
  readonly q: number;
  readonly shown: { readonly wl: number; readonly d: number; readonly mu: number };
}

/** @param sign +1 for a move of the root; −1 for the root itself, whose values are in the opponent's view */
export function evaluate(context: ReportContext, of: RecordIndex | NodeValue, sign: 1 | -1): RootValue {
  const { wl, d, m } = typeof of === 'number' ? getRecordValue(context.tree, of) : of;
  const own = 0 + sign * wl;
  unscaleWdl(own, d, context.contempt.shown, context.contempt.sign);
  return { wl: own, d, m, q: own + context.drawScore * d, shown: { ...rescaled } };
}

/** @param edges edges of the root; each gives a line */
export function createSearchInfo(context: ReportContext, stats: IterationStats, edges: readonly number[]): SearchInfo {
  const { pipeline } = context;
  const { playouts, batches, collisions, evaluations, maxDepth, tablebaseHits } = pipeline.counters;
  const computeRate = (count: number): number | null =>
    stats.sinceFirstBatchMs >= 1 ? Math.floor((count * 1000) / stats.sinceFirstBatchMs) : null;
  return {
    depth: computeAverageDepth(pipeline),
    seldepth: maxDepth,
    timeMs: Math.max(0, Math.floor(stats.elapsedMs)),
    nodes: pipeline.totalVisits,
    nps: computeRate(playouts),
    eps: computeRate(evaluations),
    tbHits: tablebaseHits,
    gathering: { playouts, batches, collisions },
    lines: edges.map((edge) => createLine(context, edge)),
  };
}

/**
 * The root's best edges, best first.
 * @param leader a move to put first, because it is played: a temperature may have drawn it; 0 = none
 */
export function listBestEdges(context: ReportContext, count: number, leader = 0): number[] {
  const { tree, rootMoves, params, drawScore } = context;
  const led = leader === 0 ? -1 : findEdge(tree, tree.rootNode, leader);
  const first = led < 0 ? rootMoves.findBest(drawScore) : led;
  // Only the best line may show the root's value: a move without a visit has none. But a temperature may draw such a move (lc0 shows it).
  const isShown = (edge: number): boolean =>
    params.temperature > 0 || getVisitedRecord(tree, tree.rootNode, edge) !== -1;
  const isOther = (edge: number): boolean => edge !== first && rootMoves.isAllowed(edge) && isShown(edge);
  return first < 0 ? [] : [first, ...findBestEdges(tree, tree.rootNode, drawScore, count - 1, isOther)];
}

/** A list with the root's edge of a move, empty while the move has no visit. */
export function findVisitedEdge(tree: Tree, move: number): number[] {
  const edge = findEdge(tree, tree.rootNode, move);
  return getVisitedRecord(tree, tree.rootNode, edge) === -1 ? [] : [edge];
}

export function createLine(context: ReportContext, edge: number): SearchLine {
  const { tree } = context;
  const root = tree.rootNode;
  const own = getVisitedRecord(tree, root, edge);
  // A move without visits shows the root's value, turned into the view of the root's mover.
  const value = own === -1 ? evaluate(context, tree.rootRecord, -1) : evaluate(context, own, 1);
  const { wl, d, shown } = value;
  const m = value.m + (own === -1 ? 1 : 0);
  const outcome = getOutcome(tree, own);
  const plies = Math.trunc(Math.round(m) / 2) + (getRecordTerminalKind(tree, own) === TABLEBASE_END ? 101 : 1);
  return {
    ...shown,
    searched: context.contempt.shown.diff === 0 ? { wl, d } : null,
    q: value.q,
    m: context.hasMovesLeft ? m : null,
    mate: outcome === 0 ? null : outcome * plies,
    visits: getRecordVisits(tree, own),
    pv: createPv(context, edge),
  };
}

/** Ends at a move that repeats a position of the line: what follows belongs to other paths through the graph. */
function createPv(context: ReportContext, rootEdge: number): number[] {
  const { tree, drawScore } = context;
  const pv: number[] = [];
  const nodes: NodeIndex[] = [];
  let node = tree.rootNode;
  let edge = rootEdge;
  for (let depth = 1; edge >= 0; depth++) {
    nodes.push(node);
    pv.push(getMove(tree, node, edge));
    const record = getVisitedRecord(tree, node, edge);
    if (record === -1) break;
    node = getRecordNode(tree, record);
    if (node === NO_NODE || tree.isRepetition(node, depth, nodes)) break;
    edge = findBestEdge(tree, node, depth % 2 === 1 ? -drawScore : drawScore);
  }
  return pv;
}
