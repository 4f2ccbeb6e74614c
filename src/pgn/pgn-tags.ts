/**
 * Reads the tag pairs of a PGN game, and its start from them: variant, FEN, Chess960 or not. It accepts common deviations from
 * the standard: several tag pairs on a line, blanks inside the brackets, unescaped quotation marks.
 * Source: PGN standard, 8.1 and 9.7.
 */
import { parseVariant } from 'chessops/pgn';
import { hasChess960Castling, type Position, parseFen, START_FEN } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';

export interface PgnTags {
  /** In the order of the file. */
  readonly tags: ReadonlyMap<string, string>;
  /** Index in the text at which the moves begin. */
  readonly end: number;
}

export interface PgnStart {
  /** Without history. The caller may make moves on it. */
  readonly position: Position;
  readonly fen: string;
  /** Castling in UCI moves is written as king takes rook. */
  readonly isChess960: boolean;
}

const NAME = '\\[\\s*([A-Za-z0-9][\\w+#=:-]*)\\s+';
const TAG = new RegExp(`${NAME}"((?:[^"\\\\\\n]|\\\\.)*)"\\s*\\]`, 'y');
/** Up to the last quotation mark of the line. */
const TAG_WITH_BARE_QUOTES = new RegExp(`${NAME}"(.*)"\\s*\\][ \\t]*$`, 'my');
const DAMAGED_TAG = /\[\s*[A-Za-z].*$/my;
const BLANK_OR_ESCAPE = /\s+|^%.*$/my;

/** Whether the line begins with a tag pair. A wrapped `[%eval …` inside a comment does not count. */
export function startsWithTag(line: string): boolean {
  TAG.lastIndex = 0;
  return line.charCodeAt(0) === 91 && TAG.test(line);
}

/** @param text of one game. A tag that cannot be read is skipped with its line. */
export function parsePgnTags(text: string): PgnTags {
  const tags = new Map<string, string>();
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    if (take(BLANK_OR_ESCAPE) !== null) continue;
    const tag = take(TAG) ?? take(TAG_WITH_BARE_QUOTES);
    if (tag !== null) tags.set(tag[1], tag[2].replace(/\\(["\\])/g, '$1'));
    else if (take(DAMAGED_TAG) === null) break;
  }
  return { tags, end: at };
}

/** False for variants with other rules, such as Atomic; Chess960 has those of chess. */
export function hasChessRules(tags: ReadonlyMap<string, string>): boolean {
  return parseVariant(tags.get('Variant')) === 'chess';
}

/**
 * The position before the first move. A variant with other rules is an error that names it.
 * @param asksForChess960 read the game as Chess960 even if neither tag nor FEN says so
 */
export function createPgnStart(tags: ReadonlyMap<string, string>, asksForChess960 = false): Result<PgnStart> {
  const variant = tags.get('Variant') ?? '';
  if (!hasChessRules(tags)) return failure(`the variant ${variant} is not supported`);
  const fen = tags.get('FEN') || START_FEN;
  const position = parseFen(fen);
  if (!position.ok) return position;
  const isChess960 = asksForChess960 || /960|fischer/i.test(variant) || hasChess960Castling(position.value);
  return success({ position: position.value, fen, isChess960 });
}
