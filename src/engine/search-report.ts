/**
 * What the engine tells its listener: moves, whole numbers and per mille, ready for any format but not yet text.
 * Everything is from the view of the side to move at the root.
 */
import type { Move } from '../chess/index.js';
import type { GatheringCounters, SearchInfo, SearchLine } from '../search/index.js';
import { computeScore, computeWdl, type ScoreType, type Wdl } from './score.js';

export type Score = { readonly kind: 'cp'; readonly value: number } | { readonly kind: 'mate'; readonly value: number };

export interface ReportLine {
  /** 1 = best. */
  readonly rank: number;
  /** Of the line's first move. */
  readonly visits: number;
  readonly score: Score;
  readonly wdl: Wdl;
  /** Full moves to the end of the game; null when the network does not say. */
  readonly movesLeft: number | null;
  readonly pv: readonly Move[];
}

export interface SearchReport {
  readonly depth: number;
  readonly seldepth: number;
  readonly timeMs: number;
  /** Of the whole search, reused ones included. */
  readonly nodes: number;
  /** Share of the evaluation cache in use, per mille; null when nothing was searched. */
  readonly hashFull: number | null;
  readonly nps: number | null;
  readonly eps: number | null;
  readonly tbHits: number;
  /** Null when nothing was searched. */
  readonly gathering: GatheringCounters | null;
  /** Best first, at least one. */
  readonly lines: readonly ReportLine[];
}

export interface ReportContext {
  readonly scoreType: ScoreType;
  readonly hashFull: number | null;
  /** What tablebases know of every line: 1 won, 0 drawn, -1 lost; null when they do not. */
  readonly result: number | null;
}

export function createReport(info: SearchInfo, { scoreType, hashFull, result }: ReportContext): SearchReport {
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

/** A known result replaces the estimate; a mate that the search has found stays. */
function withResult(line: SearchLine, result: number | null): SearchLine {
  if (result === null || line.mate !== null) return line;
  return { ...line, wl: result, d: result === 0 ? 1 : 0, q: result, mu: 0, searched: null };
}

function createLine(line: SearchLine, rank: number, scoreType: ScoreType): ReportLine {
  // As lc0 does it: only a score that needs the fit of the WDL brings the fit's errors with it.
  const values = scoreType === 'WDL_mu' ? line : { ...line, ...line.searched };
  return {
    rank,
    visits: line.visits,
    score:
      line.mate === null ? { kind: 'cp', value: computeScore(scoreType, values) } : { kind: 'mate', value: line.mate },
    wdl: computeWdl(values.wl, values.d),
    movesLeft: line.m === null ? null : Math.max(0, Math.trunc((1 + line.m) / 2)),
    pv: line.pv as readonly Move[],
  };
}

/** What is reported before a move that no search stands behind: the only thing known is that it is legal. */
export function createBlindReport(move: Move, timeMs: number): SearchReport {
  const line: ReportLine = {
    rank: 1,
    visits: 0,
    score: { kind: 'cp', value: 0 },
    wdl: computeWdl(0, 1),
    movesLeft: null,
    pv: [move],
  };
  return {
    depth: 1,
    seldepth: 1,
    timeMs: Math.max(0, Math.round(timeMs)),
    nodes: 0,
    hashFull: null,
    nps: null,
    eps: null,
    tbHits: 0,
    gathering: null,
    lines: [line],
  };
}

/** A finished game: mate in 0 for the side that is mated, otherwise a draw; there is no line to show. */
export function createFinishedReport(isCheckmate: boolean): SearchReport {
  const line: ReportLine = {
    rank: 1,
    visits: 0,
    score: isCheckmate ? { kind: 'mate', value: 0 } : { kind: 'cp', value: 0 },
    wdl: isCheckmate ? computeWdl(-1, 0) : computeWdl(0, 1),
    movesLeft: null,
    pv: [],
  };
  return {
    depth: 0,
    seldepth: 0,
    timeMs: 0,
    nodes: 0,
    hashFull: null,
    nps: null,
    eps: null,
    tbHits: 0,
    gathering: null,
    lines: [line],
  };
}
