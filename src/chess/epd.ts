/**
 * One line of an EPD or FEN list → a FEN. EPD has four fields and operations (`hmvc` and `fmvn` are the counters); many
 * books mix both forms, so two numbers after the fourth field are taken as a FEN's.
 */
import { type Result, success } from '../util/index.js';
import { formatFen, parseFen } from './fen.js';

export function parseEpdLine(line: string): Result<string> {
  const words = line.trim().split(/\s+/);
  const fields = words.slice(0, 4).map((word) => word.replace(/;$/, ''));
  let halfMoves = '0';
  let fullMoves = '1';
  if (/^\d+;?$/.test(words[4] ?? '') && /^\d+;?$/.test(words[5] ?? '')) {
    halfMoves = words[4].replace(';', '');
    fullMoves = words[5].replace(';', '');
  } else {
    halfMoves = /\bhmvc (\d+);/.exec(line)?.[1] ?? halfMoves;
    fullMoves = /\bfmvn (\d+);/.exec(line)?.[1] ?? fullMoves;
  }
  const position = parseFen([...fields, halfMoves, fullMoves].join(' '));
  return position.ok ? success(formatFen(position.value)) : position;
}
