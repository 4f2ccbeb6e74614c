/**
 * The tag pairs of a PGN game, and its start from them: variant, FEN, Chess960 or not. Read as a person would read it: several
 * pairs on a line, blanks inside the brackets, quotation marks that are not escaped, missing or doubled.
 * Source: PGN standard, 8.1 and 9.7.
 */
import { hasChess960Castling, type Position, parseFen, START_FEN } from '../chess/index.js';
import { cutText, failure, type Result, success } from '../util/index.js';

export interface PgnTag {
  readonly name: string;
  readonly value: string;
  /** Index in the text behind the tag. */
  readonly end: number;
}

export interface PgnStart {
  /** Without history. The caller may make moves on it. */
  readonly position: Position;
  readonly fen: string;
  /** Castling in UCI moves is written as king takes rook. */
  readonly isChess960: boolean;
  /** What the position of the FEN does not allow and was dropped, a sentence each. */
  readonly notes: readonly string[];
}

const NAME = /\[[ \t]*([A-Za-z0-9][\w+#=:-]*?)[=:]?(?=[ \t"“”])[ \t]*(?:=[ \t]*)?/y;
const VALUE = /"((?:[^"\\\n]|\\.)*)"[ \t]*\]/y;
const QUOTATION_MARK = /["“”„]/;
/** Tags that programs look for, by their names in small letters: some write them so. */
const KNOWN_NAMES: ReadonlyMap<string, string> = new Map(
  ['Event', 'Site', 'Date', 'Round', 'White', 'Black', 'Result', 'FEN', 'SetUp', 'Variant'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** The tag that begins at an index of the text, which holds a `[`; null when none does. */
export function readTag(text: string, at: number): PgnTag | null {
  NAME.lastIndex = at;
  const written = NAME.exec(text)?.[1];
  if (written === undefined) return null;
  const name = KNOWN_NAMES.get(written.toLowerCase()) ?? written;
  const start = NAME.lastIndex;
  VALUE.lastIndex = start;
  const match = VALUE.exec(text);
  if (match !== null) {
    const value = match[1].includes('\\') ? match[1].replace(/\\(["\\])/g, '$1') : match[1];
    return { name, value, end: VALUE.lastIndex };
  }
  return readDamagedTag(name, text, start);
}

/** So far a damaged value is searched for its end, so that the work stays linear. */
const LONGEST_DAMAGED_VALUE = 1000;

/** The value goes to the first quotation mark that a bracket follows, else to the first bracket, else to the end of the line. */
function readDamagedTag(name: string, text: string, start: number): PgnTag {
  const from = QUOTATION_MARK.test(text[start] ?? '') ? start + 1 : start;
  let bracket = -1;
  let at = from;
  for (let lastMark = -1; at < text.length && text[at] !== '\n'; at++) {
    if (bracket >= 0 && (from === start || at > from + LONGEST_DAMAGED_VALUE)) break;
    if (text[at] === ']') {
      if (lastMark >= 0) return { name, value: text.slice(from, lastMark), end: at + 1 };
      if (bracket < 0) bracket = at;
    }
    if (QUOTATION_MARK.test(text[at])) lastMark = at;
    else if (text[at] !== ' ') lastMark = -1;
  }
  const value = text.slice(from, bracket < 0 ? at : bracket).trim();
  const isMarked = value.length > 1 && value.startsWith("'") && value.endsWith("'");
  return { name, value: isMarked ? value.slice(1, -1) : value, end: bracket < 0 ? at : bracket + 1 };
}

const CHESS =
  /^(?:(?:standard|regular|normal|classical|orthodox|international|fide)?(?:chess)?|orthochess|fromposition|wild[0-8]a?)$/;
const CHESS960 =
  /^(?:chess9lx|d?frc|wild(?:fr|22)|(?:(?:double)?fischer(?:e?andom|random)?|freestyle)?(?:chess)?(?:960)?)$/;

/**
 * Whether the game is Chess960. Blanks, hyphens and capitals do not matter: `Chess 960`, `chess-960` and `Freestyle` name the
 * same rules. A variant with other rules is an error that names it.
 */
export function readVariant(tags: ReadonlyMap<string, string>): Result<boolean> {
  const variant = tags.get('Variant') ?? '';
  const name = variant
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  if (CHESS.test(name)) return success(false);
  return CHESS960.test(name) ? success(true) : failure(`the variant ${cutText(variant)} is not supported`);
}

/**
 * The position before the first move. A variant with other rules is an error that names it.
 * @param asksForChess960 read the game as Chess960 even if neither tag nor FEN says so
 */
export function createPgnStart(tags: ReadonlyMap<string, string>, asksForChess960 = false): Result<PgnStart> {
  const variant = readVariant(tags);
  if (!variant.ok) return variant;
  const written = tags.get('FEN') ?? '';
  const fen = /^[?*-]?$/.test(written) ? START_FEN : written;
  const notes: string[] = [];
  const position = parseFen(fen, notes);
  if (!position.ok) return position;
  const isChess960 = asksForChess960 || variant.value || hasChess960Castling(position.value);
  return success({ position: position.value, fen, isChess960, notes });
}
