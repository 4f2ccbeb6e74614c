/**
 * What stands in a PGN text: tag pairs, results, moves with what authors put behind them, and their numbers. Tags are read as a person
 * would read them: several pairs on a line, blanks inside the brackets, quotation marks that are not escaped, missing or doubled.
 * Source: PGN standard, 8.1, 8.2 and 10.
 */

import { DASHES } from './pgn-result.js';

export interface PgnTag {
  readonly name: string;
  readonly value: string;
  /** Index in the text behind the tag. */
  readonly end: number;
  /** No closing bracket, a name of several words, or quotation marks that are wrong; absent = nothing. */
  readonly damage?: 'isOpen' | 'hasBlankInName' | 'hasMarks';
}

const NAME = /\[[ \t\xa0]*([A-Za-z0-9][\w+#=:-]*?)[=:]?(?=[ \t\xa0"“”])[ \t\xa0]*(?:=[ \t\xa0]*)?/y;
/** What may follow a value without its bracket: the end of the line, with or without a wrong mark, another tag or the first move. */
const BEHIND_OPEN_VALUE = /[ \t]{0,99}(?:[)}>;,.]?[ \t]{0,99}$|(?=\[[ \t]*[A-Z]\w*[ \t]|\d{1,3}\.))/my;
/** `[White Elo "2300"]` */
const NAME_OF_WORDS = /\[[ \t\xa0]*([A-Za-z]\w*(?:[ \t\xa0]+[A-Za-z]\w*){1,7})[ \t\xa0]*(?=")/y;
/** Name and value, in characters; annotators' sources and addresses have a hundredth. A game with a longer one is refused. */
export const LONGEST_TAG = 1 << 16;
const [NEWLINE, QUOTE, BACKSLASH] = [10, 34, 92];
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
  const value = readQuoted(text, start);
  if (value?.isClosed === true) return { name, value: value.text, end: value.end };
  NAME_OF_WORDS.lastIndex = at;
  const words = NAME_OF_WORDS.exec(text)?.[1].split(/[ \t\xa0]+/);
  const behind = words === undefined ? null : readQuoted(text, NAME_OF_WORDS.lastIndex);
  const wordsEnd = behind?.isClosed === false ? findOpenEnd(text, behind.end) : (behind?.end ?? -1);
  if (words !== undefined && behind !== null && wordsEnd >= 0) {
    const joined = words.map((word) => word[0].toUpperCase() + word.slice(1)).join('');
    return { name: joined, value: behind.text, end: wordsEnd, damage: 'hasBlankInName' };
  }
  const end = value === null ? -1 : findOpenEnd(text, value.end);
  if (value !== null && end >= 0) return { name, value: value.text, end, damage: 'isOpen' };
  return readDamagedTag(name, text, start);
}

/** Where a tag without its bracket ends; -1: what follows belongs to its value. */
function findOpenEnd(text: string, at: number): number {
  BEHIND_OPEN_VALUE.lastIndex = at;
  return BEHIND_OPEN_VALUE.test(text) ? BEHIND_OPEN_VALUE.lastIndex : -1;
}

/**
 * A value in quotation marks. Not by a regular expression, whose stack a value of some megabytes overflows.
 * @returns null when no value of one line stands at `start`; `isClosed`: its bracket follows, and `end` is behind that
 */
function readQuoted(text: string, start: number): { text: string; end: number; isClosed: boolean } | null {
  if (text[start] !== '"') return null;
  let at = start + 1;
  let hasEscapes = false;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === NEWLINE) break;
    if (code !== BACKSLASH) continue;
    hasEscapes = true;
    if (text.charCodeAt(++at) === NEWLINE) return null;
  }
  if (text.charCodeAt(at) !== QUOTE) return null;
  const value = text.slice(start + 1, at);
  let end = at + 1;
  while (text[end] === ' ' || text[end] === '\t') end++;
  const isClosed = text[end] === ']';
  const shown = hasEscapes && value.length <= LONGEST_TAG ? value.replace(/\\(["\\])/g, '$1') : value;
  return { text: shown, end: isClosed ? end + 1 : at + 1, isClosed };
}

/** So far a damaged value is searched for its end, so that the work stays linear. */
const LONGEST_DAMAGED_VALUE = 1000;

/** The value goes to the first quotation mark that a bracket follows, else to the first bracket, else to the end of the line. */
function readDamagedTag(name: string, text: string, start: number): PgnTag {
  const from = QUOTATION_MARK.test(text[start] ?? '') ? start + 1 : start;
  let bracket = -1;
  let at = from;
  let lastMark = -1;
  for (; at < text.length && text[at] !== '\n'; at++) {
    if (bracket >= 0 && (from === start || at > from + LONGEST_DAMAGED_VALUE)) break;
    if (text[at] === ']') {
      if (lastMark >= 0) return { name, value: text.slice(from, lastMark), end: at + 1, damage: 'hasMarks' };
      if (bracket < 0) bracket = at;
    }
    if (QUOTATION_MARK.test(text[at])) lastMark = at;
    else if (text[at] !== ' ') lastMark = -1;
  }
  const value = text.slice(from, bracket >= 0 ? bracket : lastMark > from ? lastMark : at).trim();
  const isMarked = value.length > 1 && value.startsWith("'") && value.endsWith("'");
  const tag = { name, value: isMarked ? value.slice(1, -1) : value };
  return bracket < 0 ? { ...tag, end: at, damage: 'isOpen' } : { ...tag, end: bracket + 1, damage: 'hasMarks' };
}

/** Moves in long or short notation, and captures that name only files or pieces (exd, NxB); what authors put behind them follows. */
const MOVE =
  /(?:[NBRQKPnrqk♔-♟]?[a-h]?[1-8]?[-x×:]?(?:[a-h][2-7]|[a-h][18](?:[=/]?\(?[NBRQnbrq]\)?)?)|[O0o]-[O0o](?:-[O0o])?|[a-hNBRQK][x×:][a-hNBRQP](?:=?[NBRQ])?(?!(?!e\.?p)[A-Za-z0-9]))/y;
/** Check and mate, but not the glyphs +-, += and +/-. */
const CHECK = /(?:\+\+?|#)(?![-−=/])/y;
/** A row of more dashes is a line. */
const NULL_MOVE = /--(?:-(?!-)|(?!-))|Z0|0000|@@@@|<>|null(?![a-z0-9])/iy;
/** A word that contains a square, castling or a null move is meant as a move; other words are remarks. */
const MEANT_AS_MOVE = /[a-h][1-8]|[Oo0][-–—][Oo0]|^OOO?[+#!?]{0,4}$/;
/** So is a piece with a square that no board has, and a square alone behind a move number. */
const LIKE_A_MOVE = /^(?:[NBRQK][a-z]?\d?[x:-]?|(?:[a-z]x)?)[a-z]\d(?:=?[NBRQ])?[+#!?]{0,4}$/;
const LONGEST_MOVE_WORD = 16;
/** Moves of programs and people who write capitals alone. */
const CAPITALS = /^(?:[A-H][1-8]|[NBRQK]?[A-H]?[1-8]?)[-X]?[A-H][1-8](?:=?[NBRQ])?[+#]?$/;
/** What may stand behind a move or alone, longest first; numbers are those of the PGN standard 10. Check marks say nothing. */
const GLYPHS: readonly (readonly [text: string, nag: number])[] = [
  ['e.p.', 0],
  ['+/-', 16],
  ['-/+', 17],
  ['+/=', 14],
  ['=/+', 15],
  ['/ep', 0],
  ['ep', 0],
  ['+-', 18],
  ['-+', 19],
  ['+=', 14],
  ['=+', 15],
  ['!!', 3],
  ['??', 4],
  ['!?', 5],
  ['?!', 6],
  ['!', 1],
  ['?', 2],
  ['‼', 3],
  ['⁇', 4],
  ['⁉', 5],
  ['⁈', 6],
  ['□', 7],
  ['=', 10],
  ['∞', 13],
  ['⩲', 14],
  ['⩱', 15],
  ['±', 16],
  ['∓', 17],
  ['N', 146],
  ['+', 0],
  ['#', 0],
  [',', 0],
  ['.', 0],
  [':', 0],
];

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/**
 * `12.`, `12...`, `12:` and `12` are no part of the move behind them, nor are several of these; `0000` and `1-0` are none.
 * @returns where they end
 */
export function skipMoveNumber(word: string, from = 0): number {
  for (let start = from; ; ) {
    let at = start;
    while (isDigit(word.charCodeAt(at))) at++;
    const isZeros = word.length === start + 4 && word.endsWith('0000');
    const next = word[at];
    const isNumber = next === undefined || '.…'.includes(next) || /[a-zA-Z♔-♟]/.test(next);
    const hasColon = next === ':' && !isDigit(word.charCodeAt(at + 1));
    if (at > start && (isZeros || !(isNumber || hasColon))) return start;
    if (hasColon && at > start) at++;
    while (word[at] === '.' || word[at] === '…') at++;
    if (at === start) return start;
    start = at;
  }
}

export function findMoveEnd(word: string, from: number): number {
  MOVE.lastIndex = from;
  if (MOVE.test(word)) {
    const end = MOVE.lastIndex;
    CHECK.lastIndex = end;
    return CHECK.test(word) ? CHECK.lastIndex : end;
  }
  NULL_MOVE.lastIndex = from;
  return NULL_MOVE.test(word) ? NULL_MOVE.lastIndex : from;
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const FIGURINES = /[♔-♟]/g;
const INVISIBLE_ENDS = /^\p{Default_Ignorable_Code_Point}+|\p{Default_Ignorable_Code_Point}+$/gu;
const DASH = new RegExp(`[${DASHES}]`, 'g');
/** Cyrillic and Greek letters that look like those of moves, and mean the same in every language. */
const LOOKALIKES = 'асехоОΟο';
const LOOKALIKE = new RegExp(`[${LOOKALIKES}]`, 'g');
/** A figurine before the letter of its piece is one of them. */
const MARKS_AHEAD = /^(?:[^\p{L}\p{N}♔-♟]|[♔-♟](?=[NBRQK]))+/u;

/**
 * A word that has the form of no move, in the letters of moves, and the signs before it: once with what cannot be seen inside, where it
 * stands between moves, and once without. A long dash alone behind a number is what text programs make of `--`.
 */
export function spellPlainly(word: string, isNumbered: boolean): { plain: string; signs: string }[] {
  if (/^[A-Za-z0-9][!-~]*$/.test(word)) return [];
  if (isNumbered && /^[–—―]$/.test(word)) return [{ plain: '--', signs: '' }];
  const letters = word
    .replace(DASH, '-')
    .replace(/\P{No}+/gu, (text) => text.normalize('NFKC'))
    .replace(LOOKALIKE, (letter) => 'acexoOOo'[LOOKALIKES.indexOf(letter)]);
  return [letters.replace(INVISIBLE_ENDS, ''), letters.replace(INVISIBLE, '')].map((seen) => {
    const signs = /^-{2,3}$/.test(seen) ? '' : (MARKS_AHEAD.exec(seen)?.[0] ?? '');
    return { plain: seen.slice(signs.length), signs: signs.replace(FIGURINES, '') };
  });
}

/** Raised digits are marks of footnotes. */
const SIGN = /[^\p{L}\p{Nd}]/uy;

/** The sign behind a move that is no glyph: '' = a letter, a plain digit or the end; `isSeen` is false for one that takes no room. */
export function readSign(word: string, at: number): { sign: string; isSeen: boolean } {
  SIGN.lastIndex = at;
  const sign = SIGN.exec(word)?.[0] ?? '';
  return { sign, isSeen: sign.replace(INVISIBLE, '') !== '' };
}

const SHORT_CAPTURE = /^[a-h][a-h](?:=?[NBRQ])?[^A-Za-z0-9]{0,4}$/;
const PLAIN_WORD = /\s+(?![a-h][a-h]\s)[A-Za-z]{2,}(?![A-Za-z0-9])/y;

/**
 * Whether a word such as `ed` is a pawn's capture: the files are neighbours, and where no number stands before it no other word
 * follows, for `de` is a word in many languages.
 */
export function isShortCapture(word: string, isNumbered: boolean, text: string, end: number): boolean {
  if (!SHORT_CAPTURE.test(word) || Math.abs(word.charCodeAt(0) - word.charCodeAt(1)) !== 1) return false;
  PLAIN_WORD.lastIndex = end;
  return isNumbered || !PLAIN_WORD.test(text);
}

/** A null move in a word, which remarks have too. */
export function isNullWord(word: string, from: number): boolean {
  return word.length === from + 4 && (word.endsWith('null') || word.endsWith('pass'));
}

/** How a word is spelt that has the form of no move and is meant as one; null for a remark. */
export function spellMeantMove(word: string, isNumbered: boolean): string | null {
  if (word.length > LONGEST_MOVE_WORD) return null;
  const isLikeMove = LIKE_A_MOVE.test(word) && (isNumbered || /^[A-Z]/.test(word));
  if (MEANT_AS_MOVE.test(word) || isLikeMove) return word;
  return CAPITALS.test(word) ? spellCapitals(word) : null;
}

/** The glyph, or the check mark, at a place of a word, and its number: 0 = it says nothing. */
export function findGlyph(word: string, at: number, end: number): readonly [text: string, nag: number] | undefined {
  return GLYPHS.find(([text]) => word.startsWith(text, at) && at + text.length <= end);
}

/** The piece's letter stays, unless the move names both squares. */
function spellCapitals(word: string): string {
  const isBare = /^[A-H][1-8]/.test(word) && /[A-H][1-8].*[A-H][1-8]/.test(word);
  const piece = !isBare && /^[NBRQK][^1-8]|^[NRQK]/.test(word) ? word[0] : '';
  return piece + word.slice(piece.length).toLowerCase();
}
