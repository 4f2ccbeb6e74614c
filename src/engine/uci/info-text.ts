/**
 * Search reports as text: `info` lines with fields in lc0's order (chess/uciloop.cc, StringUciResponder) and whole numbers only.
 */

import type { OptionStore } from '../../base/options/index.js';
import { formatUciMove, type Move, NO_MOVE } from '../../chess/rules/index.js';
import type { ReportLine, SearchReport } from '../core/index.js';

export function formatInfo(report: SearchReport, line: ReportLine, options: OptionStore): string {
  const nodes = options.getBoolean('PerPVCounters') ? line.visits : report.nodes;
  const words = ['info depth', report.depth, 'seldepth', report.seldepth, 'time', report.timeMs, 'nodes', nodes];
  words.push('score', line.score.kind, line.score.value);
  if (options.getBoolean('UCI_ShowWDL')) words.push('wdl', line.wdl.win, line.wdl.draw, line.wdl.loss);
  if (options.getBoolean('UCI_ShowMovesLeft') && line.movesLeft !== null) words.push('movesleft', line.movesLeft);
  if (report.hashFull !== null) words.push('hashfull', report.hashFull);
  if (report.nps !== null) words.push('nps', report.nps);
  if (options.getBoolean('UCI_ShowEPS') && report.eps !== null) words.push('eps', report.eps);
  words.push('tbhits', report.tbHits);
  // Only if several lines were asked for, now or when the search began.
  if (options.getNumber('MultiPV') > 1 || report.lines.length > 1) words.push('multipv', line.rank);
  const chess960 = options.getBoolean('UCI_Chess960');
  if (line.pv.length > 0) words.push('pv', ...line.pv.map((move) => formatUciMove(move, chess960)));
  return words.join(' ');
}

/** Without a legal move the answer is `(none)`, as Stockfish prints it and python-chess reads it. */
export function formatBestMove(move: Move, ponder: Move, chess960: boolean): string {
  if (move === NO_MOVE) return 'bestmove (none)';
  const best = `bestmove ${formatUciMove(move, chess960)}`;
  return ponder === NO_MOVE ? best : `${best} ponder ${formatUciMove(ponder, chess960)}`;
}
