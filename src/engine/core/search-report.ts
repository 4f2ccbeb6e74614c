/**
 * A report to the engine's listener: moves, whole numbers and per mille, not yet text. Everything is from the view of the
 * side to move at the root.
 */

import { formatUciMove, type Move } from '../../chess/rules/index.js';
import {
  computeScore,
  computeWdl,
  convertPliesToMoves,
  DRAWN_VALUES,
  type GatheringCounters,
  type ScoreType,
  type SearchInfo,
  type SearchLine,
  type Wdl,
} from '../../search/index.js';

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

export interface SearchReport extends Omit<SearchInfo, 'gathering' | 'lines'> {
  /** Share of the evaluation cache in use, per mille; null when nothing was searched. */
  readonly hashFull: number | null;
  /** Null if nothing was searched. */
  readonly gathering: GatheringCounters | null;
  /** Best line first; at least one. */
  readonly lines: readonly ReportLine[];
}

/** @param result tablebase result of every line: 1 won, 0 drawn, -1 lost; null if unknown */
export function createSearchReport(
  info: SearchInfo,
  scoreType: ScoreType,
  hashFull: number | null,
  result: number | null,
): SearchReport {
  return {
    ...info,
    depth: Math.max(1, info.depth),
    seldepth: Math.max(1, info.seldepth),
    hashFull,
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

/** The report before a move that no search has chosen: a draw. */
export function createBlindReport(move: Move, timeMs: number, scoreType: ScoreType): SearchReport {
  const line = { ...createDrawnLine(scoreType), pv: [move] };
  return { ...createUnsearchedReport(line), depth: 1, seldepth: 1, timeMs: Math.max(0, Math.round(timeMs)) };
}

/** The report of a finished game: mate in 0 for the mated side, otherwise a draw, and no line. */
export function createFinishedReport(isCheckmate: boolean, scoreType: ScoreType): SearchReport {
  const mated = { score: { kind: 'mate', value: 0 }, wdl: computeWdl(-1, 0), pv: [] } as const;
  return createUnsearchedReport(isCheckmate ? mated : createDrawnLine(scoreType));
}

function createDrawnLine(scoreType: ScoreType): Pick<ReportLine, 'score' | 'wdl' | 'pv'> {
  return { score: { kind: 'cp', value: computeScore(scoreType, DRAWN_VALUES) }, wdl: computeWdl(0, 1), pv: [] };
}

function createUnsearchedReport(line: Pick<ReportLine, 'score' | 'wdl' | 'pv'>): SearchReport {
  const nothing = { depth: 0, seldepth: 0, timeMs: 0, nodes: 0, hashFull: null, nps: null, eps: null, tbHits: 0 };
  return { ...nothing, gathering: null, lines: [{ rank: 1, visits: 0, movesLeft: null, ...line }] };
}
