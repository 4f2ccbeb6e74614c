/**
 * Writes games as PGN text that strict readers take: one comment behind a move at most (and one to the end of the line for each with a
 * brace, which most readers skip), none behind a variation, no blank between `(` and a comment. Lines break between words and never inside a comment, so that reading returns exactly what was
 * written.
 */

import { removeControls, unwrap } from '../../base/util/index.js';
import { formatSan, hasChess960Castling, type Move, parseFen, START_FEN } from '../rules/index.js';
import { type PgnMoveNode, PgnNode, type PgnTree } from './pgn-node.js';
import { readResult } from './pgn-result.js';

/** python-chess takes the zeros of a larger one for a null move. */
const LARGEST_NUMBER = 9999;

export interface PgnStyle {
  /** Longest line of the move text; PGN's export format has 80. Longer comments get longer lines. */
  readonly lineWidth?: number;
  /** `{text}` instead of `{ text }`, which some programs need to find scores. */
  readonly hasTightComments?: boolean;
}

export interface PlayedPgnMove {
  readonly move: Move;
  /** '' = none. */
  readonly comment: string;
}

/** A game without variations. */
export interface PlayedPgnGame {
  /** The seven tags that PGN requires and any others, in this order; SetUp, FEN and Variant are added if needed. */
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly startFen: string;
  readonly isChess960: boolean;
  /** All of them legal, from the start position on. */
  readonly moves: readonly PlayedPgnMove[];
  /** Comment of a game without moves; '' = none. */
  readonly comment: string;
}

/** @returns the game with one newline at its end; games in a file need an empty line between them */
export function formatPgn(tree: PgnTree, { lineWidth, hasTightComments = false }: PgnStyle = {}): string {
  const tags = Array.from(tree.headers, ([name, value]) => `[${name} "${escapeTag(value)}"]\n`);
  const writer = new MoveTextWriter(hasTightComments);
  writer.write(tree);
  const moves = wrap(writer.words, lineWidth ?? Number.POSITIVE_INFINITY);
  return removeControls(`${tags.join('')}${tags.length === 0 ? '' : '\n'}${moves}\n`);
}

export function createPgnTree({ tags, startFen, isChess960, moves, comment }: PlayedPgnGame): PgnTree {
  const headers = new Map(tags);
  const position = unwrap(parseFen(startFen));
  if (isChess960 || hasChess960Castling(position)) headers.set('Variant', 'Chess960');
  if (startFen !== START_FEN) headers.set('SetUp', '1').set('FEN', startFen);
  const root = new PgnNode();
  let end = root;
  for (const { move, comment: remark } of moves) {
    end = end.add({ san: formatSan(position, move), ...(remark === '' ? {} : { comments: [remark] }) });
    position.makeMove(move);
  }
  return { headers, moves: root, ...(comment === '' ? {} : { comments: [comment] }) };
}

export function escapeTag(value: string): string {
  return value.replace(/[\\"]/g, '\\$&').replace(/[\r\n]+/g, ' ');
}

interface Line {
  /** The next move of the line, and those that vary it. */
  siblings: readonly PgnMoveNode[];
  /** How many of them have been written. */
  written: number;
  ply: number;
  readonly isVariation: boolean;
}

class MoveTextWriter {
  /** A comment to the end of the line ends with a newline. */
  readonly words: string[] = [];
  private needsNumber = true;
  private hasMoves = false;
  /** What stands before the next word without a blank. */
  private prefix = '';

  constructor(private readonly hasTightComments: boolean) {}

  write({ headers, comments, moves }: PgnTree): void {
    this.writeComment(comments);
    const start = parseFen(headers.get('FEN') ?? START_FEN);
    const ply = start.ok ? start.value.gamePly : 0;
    const lines: Line[] = [{ siblings: moves.children, written: 0, ply, isVariation: false }];
    for (let line = lines.at(-1); line !== undefined; line = lines.at(-1)) {
      const { siblings, written, ply } = line;
      if (siblings.length === 0) {
        if (line.isVariation) this.closeVariation();
        lines.pop();
      } else if (written === 0) {
        this.writeMove(siblings[0], ply);
        line.written = 1;
      } else if (written < siblings.length) {
        this.prefix = '(';
        this.needsNumber = true;
        lines.push({ siblings: [siblings[line.written++]], written: 0, ply, isVariation: true });
      } else {
        line.siblings = siblings[0].children;
        line.written = 0;
        line.ply++;
      }
    }
    this.push(readResult(headers.get('Result') ?? '*') ?? '*');
  }

  private writeMove({ data }: PgnMoveNode, ply: number): void {
    // A move that was the first of a line, and now stands in it, has behind it what stood before it.
    const isFirst = this.prefix !== '' || !this.hasMoves;
    this.hasMoves = true;
    const { startingComments = [], startingNags = [], comments = [], nags = [] } = data;
    if (isFirst) {
      this.writeComment(startingComments);
      for (const nag of startingNags) this.push(`$${nag}`);
    }
    const number = (ply >> 1) + 1;
    const isNumbered = (this.needsNumber || ply % 2 === 0) && number <= LARGEST_NUMBER;
    if (isNumbered) this.push(`${number}${ply % 2 === 0 ? '.' : '...'}`);
    this.push(data.san);
    const glyphs = isFirst ? nags : [...startingNags, ...nags];
    this.needsNumber = glyphs.length > 0;
    for (const nag of glyphs) this.push(`$${nag}`);
    this.writeComment(isFirst ? comments : [...startingComments, ...comments]);
  }

  /** Strict readers take one comment in a place, so they become one, but for those with a brace that would end it. */
  private writeComment(comments: readonly string[] = []): void {
    const together: string[] = [];
    const flush = (): void => {
      const text = hideTags(together.splice(0).join(' '));
      if (text !== '') this.push(this.hasTightComments ? `{${text}}` : `{ ${text} }`);
    };
    for (const comment of comments) {
      const text = removeControls(comment);
      if (!text.includes('}')) {
        if (text !== '') together.push(text);
        continue;
      }
      flush();
      this.push(`; ${text.replace(/\n+/g, ' ')}\n`);
    }
    flush();
  }

  private closeVariation(): void {
    const last = this.words.length - 1;
    if (this.words[last].endsWith('\n')) this.words.push(')');
    else this.words[last] += ')';
    this.needsNumber = true;
  }

  private push(word: string): void {
    this.words.push(this.prefix + word);
    this.prefix = '';
  }
}

/** A tag Event on a line of its own, or at the end of one where a brace follows, would be the next game's. */
function hideTags(comment: string): string {
  if (!comment.includes('[Event')) return comment;
  const brace = comment.lastIndexOf('{');
  const text = comment.replace(/\n(?=\[Event)/g, ' ');
  return text.replace(/(\[Event[ \t]+"[^"\n]*"[ \t]*\])[ \t]*\n\s*/g, (all, tag, at) => (at < brace ? `${tag} ` : all));
}

function wrap(words: readonly string[], lineWidth: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > lineWidth) {
      lines.push(line);
      line = '';
    }
    // A line that begins with % would be one for other programs.
    line += line === '' && !word.startsWith('%') ? word : ` ${word}`;
    if (!line.endsWith('\n')) continue;
    lines.push(line.slice(0, -1));
    line = '';
  }
  return [...lines, line].join('\n');
}
