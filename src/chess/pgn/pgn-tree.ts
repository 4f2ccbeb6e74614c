/**
 * The text of a PGN game as tags and a tree of moves, in one pass over its characters and without a regular expression that
 * looks back. It keeps everything: comments, glyphs and variations as they are, words that are neither as comments. It does
 * not check whether moves are legal; a word that is meant as a move and is none (Sf3, a knight's move in German) stays in the
 * tree under its own spelling, so that whoever plays the moves can name it.
 *
 * A reader of ours because chessops' looks for moves inside words (it reads Sf3 as the pawn's f3), drops what it does not know
 * and `}` in comments, and would read every text a second time, behind a pass that puts those right.
 */
import { DEMANDED_TAGS, PgnMoveNode, PgnNode, type PgnTree } from './pgn-node.js';
import { findSpacedResultEnd, GLUED_RESULT, type PgnResult, readForfeit, readResult } from './pgn-result.js';
import {
  findGlyph,
  findMoveEnd,
  isDigit,
  isNullWord,
  isShortCapture,
  readSign,
  readTag,
  skipMoveNumber,
  spellMeantMove,
  spellPlainly,
} from './pgn-words.js';

export interface ParsedPgn {
  /** As the text has them. The tree's headers begin with the seven that PGN demands. */
  readonly tags: ReadonlyMap<string, string>;
  readonly tree: PgnTree;
  /** Where each move of the main line stands in the text. */
  readonly offsets: readonly number[];
  /** What was read otherwise than it is written, a sentence each. */
  readonly notes: readonly string[];
  /** Words among the moves of the main line that are no moves; the first ones. The tree has them as comments. */
  readonly strays: readonly StrayWords[];
  /** What was read has neither moves nor a result. */
  readonly isEmpty: boolean;
  /** The rest was not read: the game has more moves, comments and variations than any. */
  readonly isTooRich: boolean;
}

/** Moves, comments, glyphs and variations of one game. */
const MOST_ITEMS = 1 << 20;

export interface StrayWords {
  readonly text: string;
  /** Where they stand in the text. */
  readonly offset: number;
  /** Number of moves before them. */
  readonly ply: number;
}

const MOST_STRAYS = 100;

/** @param isCutOff the text may end inside a tag, which is told already */
export function parsePgn(text: string, isCutOff = false): ParsedPgn {
  const parser = new PgnParser(text);
  parser.parse();
  const { tags, root, comments, offsets, strays, result, forfeit, items } = parser;
  const headers = new Map(DEMANDED_TAGS);
  for (const [name, value] of tags) {
    headers.set(name, name === 'Result' ? (readResult(withoutBrackets(value)) ?? value) : value);
  }
  const notes = parser.describeDamage(isCutOff);
  if (result !== null && result !== '*') headers.set('Result', result);
  else notes.push(...writeForfeit(headers, forfeit ?? withoutBrackets(tags.get('Result') ?? '')));
  const tree = { headers, ...(comments.length === 0 ? {} : { comments }), moves: root };
  const isEmpty = offsets.length === 0 && result === null && forfeit === null;
  return { tags, tree, offsets, strays, notes, isEmpty, isTooRich: items > MOST_ITEMS };
}

/** PGN has no word for a game that nobody won, or that was not played: the tag Termination says so. @returns a sentence if there is one to write */
export function writeForfeit(headers: Map<string, string>, word: string): string[] {
  const forfeit = readForfeit(word);
  if (forfeit === null) return [];
  const { result, termination } = forfeit;
  headers.set('Result', result);
  if (!headers.has('Termination')) headers.set('Termination', termination);
  return [`The result ${word} was read as ${result} (${termination})`];
}

/** The tags alone: the moves are not read. */
export function parsePgnTags(text: string): ReadonlyMap<string, string> {
  const parser = new PgnParser(text);
  parser.parse(true);
  return parser.tags;
}

interface Line {
  parent: PgnNode;
  /** The last move of the line; null before its first one. */
  node: PgnMoveNode | null;
  startingComments: string[];
  startingNags: number[];
}

class PgnParser {
  readonly tags = new Map<string, string>();
  readonly root = new PgnNode();
  readonly comments: string[] = [];
  readonly offsets: number[] = [];
  readonly strays: StrayWords[] = [];
  result: PgnResult | null = null;
  /** The word at the end of a game that PGN has no result for. */
  forfeit: string | null = null;
  items = 0;
  /** The main line, and the variations around the place that is read. */
  private readonly lines: Line[] = [
    { parent: this.root, node: null, startingComments: this.comments, startingNags: [] },
  ];
  private line = this.lines[0];
  /** Where words that are no moves begin and end, until something else follows. */
  private remarkStart = -1;
  private remarkEnd = -1;
  private isBehindNumber = false;
  private readonly openTags: string[] = [];
  private openTagEnd = -1;
  private readonly joinedNames: string[] = [];

  constructor(private readonly text: string) {}

  parse(onlyTags = false): void {
    const { text } = this;
    let at = 0;
    while (at < text.length && this.items <= MOST_ITEMS) {
      const code = text.charCodeAt(at);
      if (isBlank(code)) at++;
      else if (code === OPEN_BRACE) at = this.readComment(at + 1, '}', 1);
      else if (code === SEMICOLON) at = this.readComment(at + 1, '\n', 0);
      else if (code === OPEN) at = this.open(at + 1);
      else if (code === CLOSE) at = this.close(at + 1);
      else if (code === CLOSE_BRACE) this.addRemark(at, ++at);
      else if (code === DOLLAR) at = this.readNag(at + 1);
      else if (code === PERCENT && (at === 0 || text[at - 1] === '\n')) at = this.skipLine(at);
      else if (code === OPEN_BRACKET) at = this.readBracket(at);
      else at = this.readWord(at);
      if (onlyTags && (this.offsets.length > 0 || this.result !== null)) return;
    }
    this.flushRemark();
    while (this.lines.length > 1) this.close(at);
    for (const nag of this.line.node === null ? this.line.startingNags : []) this.addComment(`$${nag}`);
  }

  describeDamage(isCutOff: boolean): string[] {
    const { joinedNames } = this;
    const openTags = isCutOff && this.openTagEnd === this.text.length ? this.openTags.slice(0, -1) : this.openTags;
    const one = openTags.length === 1;
    return [
      ...(openTags.length === 0
        ? []
        : [`The tag${one ? '' : 's'} ${openTags.join(', ')} ha${one ? 's' : 've'} no closing bracket`]),
      ...joinedNames.map((name) => `The name of a tag is several words: it was read as ${name}`),
    ];
  }

  /** One blank at each end belongs to the brace, as most programs write it. */
  private readComment(start: number, endMark: string, markLength: number): number {
    const { text } = this;
    const end = findFrom(text, endMark, start);
    const from = text[start] === ' ' ? start + 1 : start;
    const to = markLength === 1 && end > from && text[end - 1] === ' ' ? end - 1 : end;
    this.flushRemark();
    this.addComment(text.slice(from, to));
    return end + markLength;
  }

  private addComment(comment: string): void {
    this.items++;
    const { node, startingComments } = this.line;
    if (node === null) startingComments.push(comment);
    else if (node.data.comments === undefined) node.data.comments = [comment];
    else node.data.comments.push(comment);
  }

  private open(at: number): number {
    this.flushRemark();
    this.items++;
    BRACKETED.lastIndex = at;
    const word = this.lines.length === 1 ? BRACKETED.exec(this.text)?.[1] : undefined;
    if (word !== undefined && isGameEnd(this.text, BRACKETED.lastIndex) && this.takeEnd(word))
      return BRACKETED.lastIndex;
    this.line = { parent: this.line.parent, node: null, startingComments: [], startingNags: [] };
    this.lines.push(this.line);
    return at;
  }

  /** What a variation without moves holds stays, with the move that it stands behind. */
  private close(at: number): number {
    this.flushRemark();
    if (this.lines.length === 1) return at;
    const { node, startingComments, startingNags } = this.line;
    this.lines.pop();
    this.line = this.lines[this.lines.length - 1];
    if (node !== null) return at;
    for (const nag of startingNags) this.addNag(nag);
    for (const comment of startingComments) this.addComment(comment);
    return at;
  }

  private readNag(start: number): number {
    let end = start;
    while (isDigit(this.text.charCodeAt(end))) end++;
    if (end > start) this.addNag(Number(this.text.slice(start, Math.min(end, start + 9))));
    return end;
  }

  private addNag(nag: number): void {
    this.flushRemark();
    this.items++;
    const { node, startingNags } = this.line;
    if (node === null) startingNags.push(nag);
    else if (node.data.nags === undefined) node.data.nags = [nag];
    else node.data.nags.push(nag);
  }

  /** A tag, or among moves a remark such as a command outside of a comment. */
  private readBracket(at: number): number {
    const tag = this.offsets.length === 0 && this.result === null ? readTag(this.text, at) : null;
    if (tag !== null) {
      this.flushRemark();
      const earlier = this.tags.get(tag.name);
      if (earlier !== undefined && earlier !== tag.value) this.addComment(`[${tag.name} "${earlier}"]`);
      this.tags.set(tag.name, tag.value);
      if (tag.damage === 'isOpen') {
        this.openTags.push(tag.name);
        this.openTagEnd = tag.end;
      } else if (tag.damage === 'hasBlankInName') this.joinedNames.push(tag.name);
      return tag.end;
    }
    let end = at;
    while (end < this.text.length && this.text[end] !== ']' && this.text[end] !== '\n') end++;
    if (this.text[end] === ']') end++;
    this.addRemark(at, end);
    return end;
  }

  /** A line that begins with `%` is for other programs (PGN standard, 6). */
  private skipLine(at: number): number {
    this.flushRemark();
    return findFrom(this.text, '\n', at);
  }

  private addRemark(start: number, end: number): void {
    if (this.remarkStart < 0) this.remarkStart = start;
    this.remarkEnd = end;
  }

  private flushRemark(): void {
    if (this.remarkStart < 0) return;
    const offset = this.remarkStart;
    const remark = this.text.slice(offset, this.remarkEnd);
    const isStray = this.lines.length === 1 && this.result === null && !remark.startsWith('[');
    if (isStray && this.strays.length < MOST_STRAYS) {
      this.strays.push({ text: remark, offset, ply: this.offsets.length });
    }
    this.remarkStart = -1;
    this.addComment(remark);
  }

  private readWord(start: number): number {
    const { text } = this;
    const resultEnd = this.lines.length === 1 && '01½'.includes(text[start]) ? findSpacedResultEnd(text, start) : -1;
    if (resultEnd >= 0) {
      this.takeWord(text.slice(start, resultEnd).replaceAll(' ', ''), start);
      return resultEnd;
    }
    let end = start + 1;
    while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++;
    // Promotion in brackets: e8(Q).
    if (text[end] === '(' && text[end + 2] === ')' && '18'.includes(text[end - 1]) && 'NBRQ'.includes(text[end + 1])) {
      end += 3;
      while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++;
    }
    // Several moves may be glued: 1.e4,e5
    for (let at = start; at < end && this.items <= MOST_ITEMS; ) at += this.takeWord(text.slice(at, end), at);
    return end;
  }

  /** @returns the number of its characters that were taken; the rest begins with another move */
  private takeWord(word: string, offset: number): number {
    const isBehindNumber = this.isBehindNumber;
    this.isBehindNumber = false;
    const whole = '01½*'.includes(word[0]) ? readResult(word) : null;
    const from = whole === null ? skipMoveNumber(word) : 0;
    if (from === word.length) {
      this.isBehindNumber = true;
      // A number among words: "in 1972".
      if (this.remarkStart >= 0 && isDigit(word.charCodeAt(word.length - 1)))
        this.addRemark(offset, offset + word.length);
      return word.length;
    }
    const result = whole ?? (from > 0 && '01½*'.includes(word[from]) ? readResult(word.slice(from)) : null);
    if (result !== null && this.lines.length === 1) {
      this.flushRemark();
      this.result = result;
      return word.length;
    }
    if (word.length === 3 && readForfeit(word) !== null && isGameEnd(this.text, offset + 3) && this.takeEnd(word))
      return 3;
    const taken = result === null ? this.takeMove(word, from, offset) : 0;
    if (taken === 0) this.takeUnusual(word, from, offset, from > 0 || isBehindNumber);
    return taken > 0 ? taken : word.length;
  }

  /** A word behind the last move, if it is a result: `0-0` and `+/-` where the tag says so, or where there is no game. */
  private takeEnd(word: string): boolean {
    if (this.lines.length > 1) return false;
    const forfeit = readForfeit(word);
    const result = readResult(word);
    const tag = readForfeit(withoutBrackets(this.tags.get('Result') ?? ''));
    if (forfeit === null && result === null) return false;
    if (forfeit !== null && (tag === null ? this.offsets.length > 0 : tag.termination !== forfeit.termination))
      return false;
    this.flushRemark();
    if (result !== null) this.result = result;
    if (forfeit !== null) this.forfeit = word;
    return true;
  }

  /** A word that has not the form of a move, but may be meant as one or look like one; else a remark. */
  private takeUnusual(word: string, from: number, offset: number, isNumbered: boolean): void {
    const written = word.slice(from);
    const spellings = spellPlainly(written, isNumbered);
    for (const { plain, signs } of spellings) {
      if (plain === '' && signs === '') return;
      if (plain !== written && this.takePlain(plain, signs, offset)) return;
    }
    const node = this.line.node;
    if (this.remarkStart < 0 && isShortCapture(written, isNumbered, this.text, offset + word.length)) {
      this.takeMove(`${written[0]}x${written.slice(1)}`, 0, offset);
      if (this.line.node !== null && this.line.node !== node)
        this.line.node.data.san = this.line.node.data.san.replace('x', '');
      return;
    }
    const meant = [written, ...spellings.map(({ plain }) => plain)]
      .map((text) => spellMeantMove(text, isNumbered))
      .find((text) => text !== null);
    if (meant != null) this.addMove(meant, offset);
    else this.addRemark(offset, offset + word.length);
  }

  /** @returns false, with nothing done, for a word that begins with no move */
  private takePlain(plain: string, signs: string, offset: number): boolean {
    let at = 0;
    for (let taken = -1; at < plain.length && taken !== 0; at += taken) {
      const rest = plain.slice(at);
      const number = skipMoveNumber(rest);
      this.isBehindNumber = number === rest.length;
      taken = this.isBehindNumber ? number : this.takeMove(rest, number, offset);
    }
    if (at === 0) return false;
    for (const rest of [signs, plain.slice(at)]) if (rest !== '') this.addComment(rest);
    return true;
  }

  /** A move with what stands behind it, or glyphs alone. @returns as of takeWord; 0, with nothing done, for any other word */
  private takeMove(word: string, from: number, offset: number): number {
    const end = this.remarkStart < 0 && isNullWord(word, from) ? word.length : findMoveEnd(word, from);
    const hasMove = end > from;
    // Before the first move, words are a preface; in a variation a glyph is the next move's.
    if (!hasMove && this.line.node === null && (this.lines.length === 1 || this.remarkStart >= 0)) return 0;
    let to = word.length;
    let result: PgnResult | null = null;
    let marks: Marks | null = null;
    if (end < to) {
      const glued = hasMove ? GLUED_RESULT.exec(word.slice(Math.max(end, to - 7))) : null;
      if (glued !== null) {
        result = readResult(glued[0]);
        to -= glued[0].length;
      }
      marks = readMarks(word, end, to, hasMove);
      // Behind no move yet, a sign that says nothing is a remark.
      if (marks === null || (this.line.node === null && !hasMove && marks.nags.length === 0)) return 0;
    }
    if (hasMove) {
      const san = end === word.length && from === 0 ? word : word.slice(from, end);
      this.addMove('0o'.includes(san[0]) && san !== '0000' ? san.replace(/[0o]/g, 'O') : san, offset);
    }
    for (const nag of marks?.nags ?? []) this.addNag(nag);
    if (marks !== null && marks.signs !== '') this.addComment(marks.signs);
    if (marks !== null && marks.end < to) return marks.end;
    if (result !== null && this.lines.length === 1) this.result = result;
    else if (result !== null) this.addComment(word.slice(to));
    return word.length;
  }

  private addMove(san: string, offset: number): void {
    this.flushRemark();
    this.items++;
    const { line } = this;
    if (line.node !== null) line.parent = line.node;
    const isMain = this.lines.length === 1;
    const isFirst = line.node === null;
    line.node = new PgnMoveNode({ san });
    if (isFirst && !isMain && line.startingComments.length > 0) line.node.data.startingComments = line.startingComments;
    if (isFirst && line.startingNags.length > 0) line.node.data.startingNags = line.startingNags;
    const { children } = line.parent;
    if (children.length === 0) line.parent.children = [line.node];
    // Variations in front of the first move are variations all the same.
    else if (isFirst && isMain) children.unshift(line.node);
    else children.push(line.node);
    if (isMain) this.offsets.push(offset);
  }
}

interface Marks {
  readonly nags: number[];
  /** Those that are no glyphs. */
  readonly signs: string;
  /** Where another move begins, or `to`. */
  readonly end: number;
}

/** What stands behind a move, up to another move, or to `to`; null where it is no mark. */
function readMarks(word: string, from: number, to: number, isBehindMove: boolean): Marks | null {
  const nags: number[] = [];
  let signs = '';
  for (let at = from; at < to; ) {
    const glyph = findGlyph(word, at, to);
    const { sign, isSeen } = glyph === undefined && isBehindMove ? readSign(word, at) : { sign: '', isSeen: false };
    if (glyph === undefined && sign === '') return null;
    if (glyph !== undefined && glyph[1] !== 0) nags.push(glyph[1]);
    if (isSeen) signs += sign;
    at += glyph?.[0].length ?? sign.length;
    const mayEnd = glyph === undefined ? !isSeen : ',.'.includes(glyph[0]);
    if (isBehindMove && mayEnd && findMoveEnd(word, skipMoveNumber(word, at)) !== at) return { nags, signs, end: at };
  }
  return { nags, signs, end: to };
}

/** `(1-0)`, without the bracket that opens. */
const BRACKETED = /[ \t]*([^\s(){}]{1,7})[ \t]*\)/y;

function withoutBrackets(result: string): string {
  return result.replace(/^\((.{1,7})\)$/, '$1');
}

/** Whether nothing but comments follows. */
function isGameEnd(text: string, start: number): boolean {
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE) at = findFrom(text, '}', at) + 1;
    else if (code === SEMICOLON) at = findFrom(text, '\n', at);
    else if (isBlank(code)) at++;
    else return false;
  }
  return true;
}

const [OPEN, CLOSE, DOLLAR, PERCENT] = [40, 41, 36, 37];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, SEMICOLON] = [123, 125, 91, 59];

/** Control characters count as blanks, and so do the other spaces of Unicode and the byte order mark. */
function isBlank(code: number): boolean {
  return code <= 32 || code === 0xa0 || (code >= 0x2000 && (code <= 0x200a || OTHER_SPACES.includes(code)));
}

const OTHER_SPACES = [0x202f, 0x205f, 0x3000, 0xfeff];

/** Ends a word. */
function isDelimiter(code: number): boolean {
  return code < DELIMITERS.length ? DELIMITERS[code] === 1 : isBlank(code);
}

const DELIMITERS = Uint8Array.from({ length: 128 }, (_, code) =>
  isBlank(code) || '{}();$['.includes(String.fromCharCode(code)) ? 1 : 0,
);

/** The index of the mark, else the end of the text. */
function findFrom(text: string, mark: string, start: number): number {
  const found = text.indexOf(mark, start);
  return found < 0 ? text.length : found;
}
