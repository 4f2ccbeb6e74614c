/** Converts what the engine reports into messages to the page: lines, statistics, trees, tablebase results. */
import { formatUciMove, listLegalMoves, type Move } from '../../chess/index.js';
import type {
  Engine,
  GamePosition,
  ReportLine,
  RootMoveStats,
  RootStats,
  SearchReport,
  TablebaseResult,
} from '../../engine/index.js';
import type { TreeDump } from '../../search/index.js';
import type { Line, MoveRow, SearchState, TablebaseVerdict, TreeNode } from '../protocol/replies.js';

/** Positions may be Chess960, so castling is always written as king takes rook. */
export function formatMove(move: Move): string {
  return formatUciMove(move, true);
}

/** @param earlierMs what the same analysis took before it was interrupted */
export function createSearchState(report: SearchReport, stats: RootStats | null, earlierMs: number): SearchState {
  return {
    timeMs: earlierMs + report.timeMs,
    nodes: report.nodes,
    nps: report.nps,
    depth: report.depth,
    seldepth: report.seldepth,
    tbHits: report.tbHits,
    lines: report.lines.map(createLine),
    moves: stats === null ? [] : stats.moves.map(createRow).reverse(),
  };
}

function createLine({ score, wdl, pv }: ReportLine): Line {
  return { score, wdl: [wdl.win, wdl.draw, wdl.loss], pv: pv.map(formatMove) };
}

function createRow({ move, visits, prior, q, d, m, u, s, v, bound }: RootMoveStats): MoveRow {
  return {
    move: formatMove(move as Move),
    n: visits,
    p: roundTo(prior, 5),
    q: roundTo(q, 5),
    d: d === null ? null : roundTo(d, 4),
    m: m === null ? null : roundTo(m, 1),
    u: u === null ? null : roundTo(u, 5),
    s: s === null ? null : roundTo(s, 5),
    v: v === null ? null : roundTo(v, 4),
    bound,
  };
}

/** Largest number of tree nodes in a message. */
const MOST_TREE_NODES = 4000;

/** @returns the tree; if it is too large to send, without the moves with the fewest visits */
export function createTreeNode(tree: TreeDump): TreeNode {
  const visits: number[] = [];
  const collect = (node: TreeDump): void => {
    visits.push(node.visits);
    node.children.forEach(collect);
  };
  collect(tree);
  const least = visits.length <= MOST_TREE_NODES ? 0 : visits.sort((a, b) => b - a)[MOST_TREE_NODES];
  return convertTree(tree, least);
}

function convertTree({ move, prior, visits, wl, d, terminal, children }: TreeDump, leastVisits: number): TreeNode {
  return {
    move: move === 0 ? '' : formatMove(move as Move),
    prior: roundTo(prior, 4),
    visits,
    wl: roundTo(wl, 4),
    d: roundTo(d, 4),
    terminal,
    children: children
      .filter((child) => child.visits > leastVisits || leastVisits === 0)
      .map((child) => convertTree(child, leastVisits)),
  };
}

function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Looks up a position and each of its moves in the tablebases. Changes the engine's position. @returns null if no table has it */
export function probeMoves(engine: Engine, { rootFen, moves, position }: GamePosition): TablebaseVerdict | null {
  const played = moves.map((move) => formatUciMove(move, true));
  const probe = (next: readonly string[]): TablebaseResult | null =>
    engine.setPosition(rootFen, [...played, ...next]).ok ? engine.probeTables() : null;
  const own = probe([]);
  if (own === null) return null;
  const rows = listLegalMoves(position).flatMap((move) => {
    const text = formatMove(move);
    const reply = probe([text]);
    // The result of the reply is the opponent's.
    return reply === null ? [] : [{ move: text, wdl: 0 - reply.wdl, dtz: reply.dtz === null ? null : 0 - reply.dtz }];
  });
  rows.sort((a, b) => b.wdl - a.wdl || rankDistance(a) - rankDistance(b));
  return { wdl: own.wdl, dtz: own.dtz, moves: rows };
}

/** A winner hurries and a loser delays: both want the smaller DTZ first, for a loser's is negative. */
function rankDistance({ dtz }: { readonly dtz: number | null }): number {
  return dtz ?? Number.POSITIVE_INFINITY;
}
