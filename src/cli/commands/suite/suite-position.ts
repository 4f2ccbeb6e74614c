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

/**
 * @param lineNumber from 1, the name of a position without an `id`
 * @param notes as of parseFen
 */
export function parseSuiteLine(line: string, lineNumber: number, notes: string[] = []): Result<SuitePosition> {
  const parsed = parseEpdLine(line, notes);
  if (!parsed.ok) return parsed;
  const { fen, operations } = parsed.value;
  const position = unwrap(parseFen(fen));
  const best = parseMoves(position, operations, 'bm');
  if (!best.ok) return best;
  const avoided = parseMoves(position, operations, 'am');
  if (!avoided.ok) return avoided;
  if (best.value.length + avoided.value.length === 0) return failure('There is neither a bm nor an am operation');
  const tasks = ['bm', 'am'].filter((opcode) => operations.has(opcode));
  const task = tasks.map((opcode) => [opcode, ...(operations.get(opcode) ?? [])].join(' ')).join(', ');
  const id = operations.get('id')?.join(' ') || `line ${lineNumber}`;
  return success({ id, fen, task, best: best.value, avoided: avoided.value });
}

export function isSolution({ best, avoided }: SuitePosition, move: Move): boolean {
  return !avoided.includes(move) && (best.length === 0 || best.includes(move));
}

function parseMoves(
  position: Position,
  operations: ReadonlyMap<string, readonly string[]>,
  opcode: string,
): Result<Move[]> {
  const moves: Move[] = [];
  const words = (operations.get(opcode) ?? []).flatMap((operand) => operand.split(/[\s,]+/));
  for (const word of words.filter((text) => text !== '')) {
    const san = parseSan(position, word);
    const move = san.ok ? san : parseUciMove(position, word);
    if (!move.ok) return failure(`${opcode} ${word.slice(0, 40)}: ${san.ok ? move.error : san.error}`);
    moves.push(move.value);
  }
  return success(moves);
}
