/**
 * Reads a PGN game. The moves of the main line are checked by our own rules, which include Chess960. Variations are kept as
 * written and are not checked. A game with an illegal move is read up to that move.
 *
 * Errors name line and move: `line 12, move 7.Sf3: "Sf3" is not …`. The caller adds the names of game and file.
 */
import { formatSanLine, formatUciMove, type Move, type Position, parseFen, parseSan } from '../chess/index.js';
import { failure, type Result, success, unwrap } from '../util/index.js';
import { createPgnStart, parsePgnTags } from './pgn-tags.js';
import type { PgnText } from './pgn-text.js';
import { findMoveLine, type PgnResult, type PgnTree, parsePgnTree, readResult } from './pgn-tree.js';

export interface PgnGame {
  /** The seven tags that PGN requires come first and always exist; the others follow in the order of the file. */
  readonly tags: ReadonlyMap<string, string>;
  readonly startFen: string;
  /** Castling in UCI moves is written as king takes rook. */
  readonly isChess960: boolean;
  /** The main line, as far as it is legal. */
  readonly moves: readonly Move[];
  /** Why the main line ends before the text does: one sentence; null when all of its moves are legal. */
  readonly problem: string | null;
  readonly result: PgnResult;
  readonly tree: PgnTree;
  /** After the last of `moves`, with its history. */
  readonly end: Position;
}

export interface PgnReading {
  /** Read the game as Chess960 even if neither tag nor FEN says so. */
  readonly asksForChess960?: boolean;
  /** Largest number of moves of the main line to read. */
  readonly maxPlies?: number;
}

export interface PgnMove {
  readonly uci: string;
  readonly san: string;
}

/** Fails for a game of an unknown variant, with an illegal FEN or first move, or with nothing in it. */
export function readPgnGame(source: PgnText, { asksForChess960, maxPlies }: PgnReading = {}): Result<PgnGame> {
  const { text, line, isTooLong } = source;
  if (isTooLong) return failure(`line ${line}: no game is that long`);
  const { tags, end } = parsePgnTags(text);
  const start = createPgnStart(tags, asksForChess960);
  if (!start.ok) return failure(`line ${line}: ${start.error}`);
  const { position, fen: startFen, isChess960 } = start.value;
  const tree = parsePgnTree(text, end, tags);
  const moves: Move[] = [];
  let problem: string | null = null;
  for (const { san } of tree.moves.mainline()) {
    if (moves.length >= (maxPlies ?? Number.POSITIVE_INFINITY)) break;
    const move = parseSan(position, san);
    if (!move.ok) {
      const place = `${(position.gamePly >> 1) + 1}${position.sideToMove === 0 ? '.' : '...'}${san}`;
      problem = `line ${line + findMoveLine(text, end, moves.length)}, move ${place}: ${move.error}`;
      if (moves.length === 0) return failure(problem);
      break;
    }
    moves.push(move.value);
    position.makeMove(move.value);
  }
  if (tags.size === 0 && moves.length === 0 && !hasResult(text)) {
    return failure(`line ${line}: there are no tags, no moves and no result`);
  }
  const result = readResult(tree.headers.get('Result') ?? '*') ?? '*';
  return success({ tags: tree.headers, startFen, isChess960, moves, problem, result, tree, end: position });
}

function hasResult(text: string): boolean {
  return text.split(/\s+/).some((word) => readResult(word) !== null);
}

/** Name of the game in messages: `Game 3 (Tal - Fischer)`. */
export function nameGame({ text, number }: PgnText): string {
  const { tags } = parsePgnTags(text);
  const players = `${tags.get('White') ?? '?'} - ${tags.get('Black') ?? '?'}`;
  return players === '? - ?' ? `Game ${number}` : `Game ${number} (${players})`;
}

/** The moves that were read, in standard SAN. */
export function spellMoves({ startFen, moves, isChess960 }: PgnGame): PgnMove[] {
  const sans = formatSanLine(unwrap(parseFen(startFen)), moves);
  return sans.map((san, ply) => ({ uci: formatUciMove(moves[ply], isChess960), san }));
}
