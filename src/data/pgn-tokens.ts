/**
 * A PGN game's text → its tags, moves and `[%eval]` scores. Reads what is found in the wild: comments, variations,
 * NAGs, move numbers glued to moves, escapes, missing results. It knows no chess; moves stay text.
 * Source: PGN standard, sections 7 and 8; `%eval` as lichess writes it (pawns for White, or `#n` for mate in n).
 */
export interface PgnTags {
  readonly tags: ReadonlyMap<string, string>;
  /** Where the moves start in the text. */
  readonly end: number;
}

export interface PgnMoves {
  /** SAN of the main line. */
  readonly moves: readonly string[];
  /** Centipawns for White behind each move, ±(32000 − 2n) for mate in n; NaN where no comment says. */
  readonly whiteScores: readonly number[];
  /** `1-0`, `0-1`, `1/2-1/2`, `*`, or nothing when the moves just end. */
  readonly result: string;
}

const TAG = /^\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]/;
const EVAL = /\[%eval\s+(#?)([-+]?\d+(?:\.\d+)?)/;
const MAX_CENTIPAWNS = 20_000;

/** A line that opens a tag pair; a wrapped `[%eval …` inside a comment is none. */
export function isTagLine(line: string): boolean {
  return line.charCodeAt(0) === 91 && TAG.test(line);
}

function isResult(token: string): boolean {
  return token === '1-0' || token === '0-1' || token === '1/2-1/2' || token === '*';
}

/** The score in a comment, or NaN. */
export function parseEvalComment(comment: string): number {
  const match = EVAL.exec(comment);
  if (match === null) return Number.NaN;
  const number = Number(match[2]);
  if (match[1] === '#') return match[2].startsWith('-') ? -32000 - 2 * number : 32000 - 2 * number;
  return Math.max(-MAX_CENTIPAWNS, Math.min(MAX_CENTIPAWNS, Math.round(number * 100)));
}

/** Nothing, a bracket or bare punctuation: what remains of a token that is no move. */
const NO_MOVE_TOKEN = /^(?:[!?{}()[\]]*|e\.?p\.?)$/;

/** Characters that end a move or a number. */
const TOKEN_END = new Uint8Array(128);
for (const character of ' \t\r\n\v\f{}();[]$') TOKEN_END[character.charCodeAt(0)] = 1;

function skipToLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

function skipComment(text: string, open: number): number {
  const close = text.indexOf('}', open);
  return close < 0 ? text.length : close + 1;
}

/** Past the variation that opens at `open`, with all that is nested in it. */
function skipVariation(text: string, open: number): number {
  let depth = 0;
  let at = open;
  while (at < text.length) {
    const character = text[at];
    if (character === '{') {
      at = skipComment(text, at);
      continue;
    }
    at++;
    if (character === '(') depth++;
    else if (character === ')' && --depth === 0) break;
    else if (character === ';') at = skipToLineEnd(text, at);
  }
  return at;
}

/** `12.`, `12...`, also glued to a move: where the move starts. */
function skipMoveNumber(token: string): number {
  let at = 0;
  while (at < token.length && token.charCodeAt(at) >= 48 && token.charCodeAt(at) <= 57) at++;
  if (at > 0 && at < token.length && token[at] !== '.') return 0;
  while (at < token.length && token[at] === '.') at++;
  return at;
}

export function parsePgnTags(text: string): PgnTags {
  const tags = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const end = skipToLineEnd(text, at);
    const line = text.slice(at, end);
    const match = TAG.exec(line);
    if (match !== null) tags.set(match[1], match[2].replace(/\\(.)/g, '$1'));
    else if (line.trim() !== '') break;
    at = end;
  }
  return { tags, end: at };
}

/** Where the token that starts at `start` ends. */
function skipToken(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < 128 && TOKEN_END[code] === 1) break;
    at++;
  }
  return at;
}

export function parsePgnMoves(text: string, from: number): PgnMoves {
  const moves: string[] = [];
  const whiteScores: number[] = [];
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '{') {
      const end = skipComment(text, at);
      const score = parseEvalComment(text.slice(at, end));
      if (moves.length > 0 && !Number.isNaN(score)) whiteScores[moves.length - 1] = score;
      at = end;
    } else if (character === '(') {
      at = skipVariation(text, at);
    } else if (character === ';' || (character === '%' && text[at - 1] === '\n')) {
      at = skipToLineEnd(text, at);
    } else if (character === '$') {
      at = skipToken(text, at + 1);
    } else {
      const end = Math.max(skipToken(text, at), at + 1);
      const token = text.slice(at, end);
      at = end;
      if (isResult(token)) return { moves, whiteScores, result: token };
      const move = token.slice(skipMoveNumber(token)).trim();
      if (NO_MOVE_TOKEN.test(move)) continue;
      moves.push(move);
      whiteScores.push(Number.NaN);
    }
  }
  return { moves, whiteScores, result: '' };
}
