/**
 * A report to the engine's listener: moves, whole numbers and per mille, not yet text. Everything is from the view of the
 * side to move at the root. Also here: the statistics of the root's moves.
 */

import { unwrap } from '../../base/util/index.js';
import { formatUciMove, type Move, type Position } from '../../chess/rules/index.js';
import { getPolicyEncoding } from '../../networks/encoding/index.js';
import {
  computeScore,
  computeWdl,
  convertPliesToMoves,
  type GatheringCounters,
  type MoveStats,
  type ScoreType,
  type SearchInfo,
  type SearchLine,
  type Wdl,
} from '../../search/index.js';

// Statistics of the root moves (VerboseMoveStats), with the move and its policy index.

/** The policy encoding of the indices, as in lc0's statistics. */
const POLICY_NAME = 'lc0-1858';

export interface RootMoveStats extends MoveStats {
  /** The move's index in the network's policy, untransformed; for the root itself the number of legal moves. */
  readonly index: number;
}

export interface RootStats {
  /** Ascending by visits, as lc0 prints them. */
  readonly moves: readonly RootMoveStats[];
  readonly node: RootMoveStats;
  /** Whether the network has a moves-left head. The statistics show a number in any case, as in lc0. */
  readonly hasMovesLeft: boolean;
}

/** Expected moves to the end of the game at the root; null if unknown. */
export function getMovesLeft({ node, hasMovesLeft }: RootStats): number | null {
  return hasMovesLeft && node.m !== null ? convertPliesToMoves(node.m) : null;
}

/** The root's score in an info line, for the side to move. */
export function computeRootScore({ node }: RootStats, type: ScoreType): number {
  return computeScore(type, { wl: node.wl ?? node.q, d: node.d ?? 0, q: node.q, mu: node.mu ?? 0 });
}

export function createRootStats(
  position: Position,
  { rows, node }: { readonly rows: readonly MoveStats[]; readonly node: MoveStats },
  hasMovesLeft: boolean,
): RootStats {
  const policy = unwrap(getPolicyEncoding(POLICY_NAME));
  return {
    moves: rows.map((row) => ({ ...row, index: policy.moveToIndex(position, row.move as Move, 0) })),
    node: { ...node, index: node.edgeCount },
    hasMovesLeft,
  };
}

export type Score = { readonly kind: 'cp'; readonly value: number } | { readonly kind: 'mate'; readonly value: number };

export interface ReportLine {
  /** 1 = best. */
  readonly rank: number;
  /** Visits of the line's first move. */
  readonly visits: number;
  readonly score: Score;
  readonly wdl: Wdl;
  /** Expected full moves to the end of the game; null if the network has no moves-left head. */
  readonly movesLeft: number | null;
  readonly pv: readonly Move[];
}

export interface SearchReport {
  readonly depth: number;
  readonly seldepth: number;
  readonly timeMs: number;
  /** Nodes of the whole search, with reused ones. */
  readonly nodes: number;
  /** Share of the evaluation cache in use, per mille; null when nothing was searched. */
  readonly hashFull: number | null;
  readonly nps: number | null;
  readonly eps: number | null;
  readonly tbHits: number;
  /** Null if nothing was searched. */
  readonly gathering: GatheringCounters | null;
  /** Best line first; at least one. */
  readonly lines: readonly ReportLine[];
}

export interface ReportExtras {
  readonly scoreType: ScoreType;
  readonly hashFull: number | null;
  /** Tablebase result of every line: 1 won, 0 drawn, -1 lost; null if unknown. */
  readonly result: number | null;
}

export function createSearchReport(info: SearchInfo, { scoreType, hashFull, result }: ReportExtras): SearchReport {
  return {
    depth: Math.max(1, Math.trunc(info.depth)),
    seldepth: Math.max(1, Math.trunc(info.seldepth)),
    timeMs: Math.max(0, Math.round(info.timeMs)),
    nodes: info.nodes,
    hashFull,
    nps: info.nps === null ? null : Math.trunc(info.nps),
    eps: info.eps === null ? null : Math.trunc(info.eps),
    tbHits: info.tbHits,
    gathering: info.gathering,
    lines: info.lines.map((line, index) => createLine(withResult(line, result), index + 1, scoreType)),
  };
}

/** A tablebase result replaces the score, except a mate that the search has found. */
function withResult(line: SearchLine, result: number | null): SearchLine {
  if (result === null || line.mate !== null) return line;
  return { ...line, wl: result, d: result === 0 ? 1 : 0, q: result, mu: 0, searched: null };
}

function createLine(line: SearchLine, rank: number, scoreType: ScoreType): ReportLine {
  // As in lc0: only scores that need the WDL fit use it, because it has errors.
  const values = scoreType === 'WDL_mu' ? line : { ...line, ...line.searched };
  return {
    rank,
    visits: line.visits,
    score:
      line.mate === null ? { kind: 'cp', value: computeScore(scoreType, values) } : { kind: 'mate', value: line.mate },
    wdl: computeWdl(values.wl, values.d),
    movesLeft: line.m === null ? null : Math.max(0, Math.trunc(convertPliesToMoves(line.m))),
    pv: line.pv as readonly Move[],
  };
}

/** A report with its moves as text: what a program and the page get of it. */
export function createInfo({ nps, tbHits, eps: _, gathering: __, lines, ...report }: SearchReport, chess960: boolean) {
  return {
    ...report,
    nodesPerSecond: nps,
    tablebaseHits: tbHits,
    lines: lines.map((line) => ({ ...line, pv: line.pv.map((move) => formatUciMove(move, chess960)) })),
  };
}

/** Of every root move, most visits first; null where a move without a visit has no value. */
export function createMoveStatistics({ moves, hasMovesLeft, node }: RootStats, chess960: boolean) {
  if (node.edgeCount === 0) return [];
  return moves
    .map((row) => ({
      row,
      move: formatUciMove(row.move as Move, chess960),
      visits: row.visits,
      prior: row.prior,
      value: row.visits === 0 ? null : row.wl,
      draw: row.visits === 0 ? null : row.d,
      movesLeft: row.visits === 0 ? null : getMovesLeft({ node: row, moves, hasMovesLeft }),
    }))
    .sort((a, b) => b.visits - a.visits || b.prior - a.prior);
}

/** The report before a move that no search has chosen. */
export function createBlindReport(move: Move, timeMs: number): SearchReport {
  const line = { score: { kind: 'cp', value: 0 }, wdl: computeWdl(0, 1), pv: [move] } as const;
  return { ...createUnsearchedReport(line), depth: 1, seldepth: 1, timeMs: Math.max(0, Math.round(timeMs)) };
}

/** The report of a finished game: mate in 0 for the mated side, otherwise a draw, and no line. */
export function createFinishedReport(isCheckmate: boolean): SearchReport {
  const wdl = isCheckmate ? computeWdl(-1, 0) : computeWdl(0, 1);
  return createUnsearchedReport({ score: { kind: isCheckmate ? 'mate' : 'cp', value: 0 }, wdl, pv: [] });
}

function createUnsearchedReport(line: Pick<ReportLine, 'score' | 'wdl' | 'pv'>): SearchReport {
  const nothing = { depth: 0, seldepth: 0, timeMs: 0, nodes: 0, hashFull: null, nps: null, eps: null, tbHits: 0 };
  return { ...nothing, gathering: null, lines: [{ rank: 1, visits: 0, movesLeft: null, ...line }] };
}
