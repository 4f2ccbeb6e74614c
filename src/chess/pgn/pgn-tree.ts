/**
 * The text of a PGN game as tags and a tree of moves, in one pass over its characters and without a regular expression that
 * looks back. It keeps everything: comments, glyphs and variations as they are, words that are neither as comments. It does
 * not check whether moves are legal; a word that is meant as a move and is none (Sf3, a knight's move in German) stays in the
 * tree under its own spelling, so that whoever plays the moves can name it.
 *
 * A reader of ours because chessops' looks for moves inside words (it reads Sf3 as the pawn's f3), drops what it does not know
 * and `}` in comments, and would read every text a second time, behind a pass that puts those right.
 */
import {
  findGlyph,
  findMoveEnd,
  findSpacedResultEnd,
  GLUED_RESULT,
  isDigit,
  isNullWord,
  type PgnResult,
  readResult,
  readTag,
  skipMoveNumber,
  spellMeantMove,
} from './pgn-words.js';

export interface PgnNodeData {
  san: string;
  /** Before the first move of a variation. */
  startingComments?: string[];
  comments?: string[];
  nags?: number[];
}

export class PgnNode {
  /** The first one goes on with the line, the others are variations. */
  children: PgnMoveNode[] = [];

  *mainline(): Generator<PgnNodeData, void, void> {
    for (let node: PgnMoveNode | undefined = this.children[0]; node !== undefined; node = node.children[0])
      yield node.data;
  }
}

export class PgnMoveNode extends PgnNode {
  constructor(public data: PgnNodeData) {
    super();
  }
}

export interface PgnTree {
  readonly headers: Map<string, string>;
  /** Before the first move. */
  readonly comments?: string[];
  readonly moves: PgnNode;
}

export interface ParsedPgn {
  /** As the text has them. The tree's headers begin with the seven that PGN demands. */
  readonly tags: ReadonlyMap<string, string>;
  readonly tree: PgnTree;
  /** Where each move of the main line stands in the text. */
  readonly offsets: readonly number[];
  /** What was read has neither moves nor a result. */
  readonly isEmpty: boolean;
  /** The rest was not read: the game has more moves, comments and variations than any. */
  readonly isTooRich: boolean;
}

/** Moves, comments, glyphs and variations of one game. */
const MOST_ITEMS = 1 << 20;

export const DEMANDED_TAGS: ReadonlyMap<string, string> = new Map([
  ['Event', '?'],
  ['Site', '?'],
  ['Date', '????.??.??'],
  ['Round', '?'],
  ['White', '?'],
  ['Black', '?'],
  ['Result', '*'],
]);

export function parsePgn(text: string): ParsedPgn {
  const parser = new PgnParser(text);
  parser.parse();
  const { tags, root, comments, offsets, result, items } = parser;
  const headers = new Map(DEMANDED_TAGS);
  for (const [name, value] of tags) headers.set(name, name === 'Result' ? (readResult(value) ?? value) : value);
  if (result !== null && result !== '*') headers.set('Result', result);
  const tree = { headers, ...(comments.length === 0 ? {} : { comments }), moves: root };
  return { tags, tree, offsets, isEmpty: offsets.length === 0 && result === null, isTooRich: items > MOST_ITEMS };
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
}

class PgnParser {
  readonly tags = new Map<string, string>();
  readonly root = new PgnNode();
  readonly comments: string[] = [];
  readonly offsets: number[] = [];
  result: PgnResult | null = null;
  items = 0;
  /** The main line, and the variations around the place that is read. */
  private readonly lines: Line[] = [{ parent: this.root, node: null, startingComments: this.comments }];
  private line = this.lines[0];
  /** Where words that are no moves begin and end, until something else follows. */
  private remarkStart = -1;
  private remarkEnd = -1;
  private isBehindNumber = false;

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
      else if (code === CLOSE_BRACE) at++;
      else if (code === DOLLAR) at = this.readNag(at + 1);
      else if (code === PERCENT && (at === 0 || text[at - 1] === '\n')) at = this.skipLine(at);
      else if (code === OPEN_BRACKET) at = this.readBracket(at);
      else at = this.readWord(at);
      if (onlyTags && (this.offsets.length > 0 || this.result !== null)) return;
    }
    this.flushRemark();
    while (this.lines.length > 1) this.close(at);
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
    this.line = { parent: this.line.parent, node: null, startingComments: [] };
    this.lines.push(this.line);
    return at;
  }

  /** The comments of a variation without moves stay, with the move that it stands behind. */
  private close(at: number): number {
    this.flushRemark();
    if (this.lines.length === 1) return at;
    const { node, startingComments } = this.line;
    this.lines.pop();
    this.line = this.lines[this.lines.length - 1];
    if (node === null) for (const comment of startingComments) this.addComment(comment);
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
    const { node } = this.line;
    if (node === null) this.addComment(`$${nag}`);
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
    const remark = this.text.slice(this.remarkStart, this.remarkEnd);
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
    for (let at = start; at < end; ) at += this.takeWord(text.slice(at, end), at);
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
    const taken = result === null ? this.takeMove(word, from, offset) : 0;
    if (taken > 0) return taken;
    const meant = spellMeantMove(word.slice(from), from > 0 || isBehindNumber);
    if (meant !== null) this.addMove(meant, offset);
    else this.addRemark(offset, offset + word.length);
    return word.length;
  }

  /** A move with what stands behind it, or glyphs behind one. @returns as of takeWord; 0, with nothing done, for any other word */
  private takeMove(word: string, from: number, offset: number): number {
    const end = this.remarkStart < 0 && isNullWord(word, from) ? word.length : findMoveEnd(word, from);
    const hasMove = end > from;
    if (!hasMove && this.line.node === null) return 0;
    let to = word.length;
    let taken = to;
    let result: PgnResult | null = null;
    let nags: number[] | null = null;
    if (end < to) {
      const glued = hasMove ? GLUED_RESULT.exec(word.slice(Math.max(end, to - 7))) : null;
      if (glued !== null) {
        result = readResult(glued[0]);
        to -= glued[0].length;
      }
      for (let at = end; at < to; ) {
        const glyph = findGlyph(word, at, to);
        if (glyph === undefined) return 0;
        nags ??= [];
        if (glyph[1] !== 0) nags.push(glyph[1]);
        at += glyph[0].length;
        if (!hasMove || !',.'.includes(glyph[0]) || findMoveEnd(word, skipMoveNumber(word, at)) === at) continue;
        taken = at;
        result = null;
        break;
      }
    }
    if (hasMove) {
      const san = end === word.length && from === 0 ? word : word.slice(from, end);
      this.addMove(
        '0o'.includes(san[0]) && san !== '0000' ? san.replace(/[0o]/g, 'O').replace(/[–—]/g, '-') : san,
        offset,
      );
    }
    for (const nag of nags ?? []) this.addNag(nag);
    if (result !== null && this.lines.length === 1) this.result = result;
    else if (result !== null) this.addRemark(offset + to, offset + word.length);
    return taken;
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
    const { children } = line.parent;
    if (children.length === 0) line.parent.children = [line.node];
    // Variations in front of the first move are variations all the same.
    else if (isFirst && isMain) children.unshift(line.node);
    else children.push(line.node);
    if (isMain) this.offsets.push(offset);
  }
}

const [OPEN, CLOSE, DOLLAR, PERCENT] = [40, 41, 36, 37];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, SEMICOLON] = [123, 125, 91, 59];

/** Control characters count as blanks, and so do the other spaces of Unicode and the byte order mark. */
function isBlank(code: number): boolean {
  return code <= 32 || code === 0xa0 || (code >= 0x2000 && (code <= 0x200b || OTHER_SPACES.includes(code)));
}

const OTHER_SPACES = [0x202f, 0x205f, 0x2060, 0x3000, 0xfeff];

function isDelimiter(code: number): boolean {
  if (code <= 32) return true;
  if (code > 125) return isBlank(code);
  return (
    code === OPEN_BRACE ||
    code === CLOSE_BRACE ||
    code === OPEN ||
    code === CLOSE ||
    code === SEMICOLON ||
    code === DOLLAR ||
    code === OPEN_BRACKET
  );
}

/** The index of the mark, else the end of the text. */
function findFrom(text: string, mark: string, start: number): number {
  const found = text.indexOf(mark, start);
  return found < 0 ? text.length : found;
}
