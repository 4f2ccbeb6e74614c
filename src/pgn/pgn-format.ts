/**
 * Writes games as PGN text. chessops writes tags, moves, comments and variations; this file makes the trees of played games and
 * wraps lines. Lines break between words and never inside a comment, so that reading returns exactly what was written.
 */
import { formatSan, hasChess960Castling, type Move, parseFen, START_FEN } from '../chess/index.js';
import { unwrap } from '../util/index.js';
import { makePgn, PgnMoveNode, PgnNode, type PgnNodeData, type PgnTree } from './pgn-tree.js';

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
  const text = makePgn(tree);
  const start = tree.headers.size === 0 ? 0 : text.indexOf(']\n\n') + 3;
  const words = text.slice(start).match(/\{[^}]*\}|\S+/g) ?? [];
  const spelt = hasTightComments ? words.map((word) => word.replace(/^\{ (.*) \}$/s, '{$1}')) : words;
  return `${text.slice(0, start)}${wrap(spelt, lineWidth ?? Number.POSITIVE_INFINITY)}\n`;
}

export function createPgnTree({ tags, startFen, isChess960, moves, comment }: PlayedPgnGame): PgnTree {
  const headers = new Map(tags);
  const position = unwrap(parseFen(startFen));
  if (isChess960 || hasChess960Castling(position)) headers.set('Variant', 'Chess960');
  if (startFen !== START_FEN) headers.set('SetUp', '1').set('FEN', startFen);
  const root = new PgnNode<PgnNodeData>();
  let end = root;
  for (const { move, comment: remark } of moves) {
    const node = new PgnMoveNode({
      san: formatSan(position, move),
      ...(remark === '' ? {} : { comments: [remark] }),
    });
    end.children.push(node);
    end = node;
    position.makeMove(move);
  }
  return { headers, moves: root, ...(comment === '' ? {} : { comments: [comment] }) };
}

function wrap(words: readonly string[], lineWidth: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > lineWidth) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join('\n');
}
