/** One line of a test suite in EPD: a position, the moves that solve it (`bm`), the moves that do not (`am`), its name. */
import { type Move, type Position, parseEpdLine, parseFen, parseSan, parseUciMove } from '../../../chess/index.js';
import { failure, type Result, success, unwrap } from '../../../util/index.js';

export interface SuitePosition {
  readonly id: string;
  readonly fen: string;
  /** As the suite writes them: `bm Qg6`, `am Rxb2`. */
  readonly task: string;
  /** Any of these solves it; empty = every move that is not to be avoided. */
  readonly best: readonly Move[];
  readonly avoided: readonly Move[];
}

/** @param lineNumber from 1, the name of a position without an `id` */
export function parseSuiteLine(line: string, lineNumber: number): Result<SuitePosition> {
  const fen = parseEpdLine(line);
  if (!fen.ok) return fen;
  const position = unwrap(parseFen(fen.value));
  const operations = line.replace(/"[^"]*"/g, '');
  const best = parseMoves(position, operations, 'bm');
  if (!best.ok) return best;
  const avoided = parseMoves(position, operations, 'am');
  if (!avoided.ok) return avoided;
  if (best.value.length + avoided.value.length === 0) return failure('There is neither a bm nor an am operation');
  const task = (operations.match(/\b[ab]m [^;]+/g) ?? []).join(', ');
  const id = /\bid "([^"]*)"/.exec(line)?.[1] ?? `line ${lineNumber}`;
  return success({ id, fen: fen.value, task, best: best.value, avoided: avoided.value });
}

export function isSolution({ best, avoided }: SuitePosition, move: Move): boolean {
  return !avoided.includes(move) && (best.length === 0 || best.includes(move));
}

function parseMoves(position: Position, operations: string, operation: string): Result<Move[]> {
  const operand = new RegExp(`\\b${operation} ([^;]+)`).exec(operations)?.[1] ?? '';
  const moves: Move[] = [];
  for (const word of operand.split(/[\s,]+/).filter((text) => text !== '')) {
    const san = parseSan(position, word);
    const move = san.ok ? san : parseUciMove(position, word);
    if (!move.ok) return failure(`${operation} ${word}: ${san.ok ? move.error : san.error}`);
    moves.push(move.value);
  }
  return success(moves);
}
