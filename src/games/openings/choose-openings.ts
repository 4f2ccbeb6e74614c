/** Chooses the opening of each game of a run: matches use one for each pair of games, self-play one for each game. */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import { hasChess960Castling, parseFen } from '../../chess/rules/index.js';
import { createOpeningSequence, type Opening, type OpeningOrder, openBook, START_BOOK } from './book.js';

export interface MatchOpenings {
  /** Null = the initial position. */
  readonly book: string | null;
  /** Longest line taken from a PGN book. */
  readonly maxPlies: number | null;
  readonly order: OpeningOrder;
  readonly seed: number;
  readonly games: number;
  /** If false, an opening with castling rights of Chess960 is an error: engines would read its moves differently. */
  readonly chess960: boolean;
  /** Told what was dropped from the positions of the first openings. */
  readonly onNote?: (text: string) => void;
}

const MOST_NOTES = 10;

/**
 * The opening of each pair. All are read before the first game, so that a damaged book cannot end a match midway; the
 * error names the line.
 */
export async function createMatchOpenings(request: MatchOpenings): Promise<Result<(pair: number) => Opening>> {
  const { book: path, maxPlies, order, seed, games, chess960, onNote } = request;
  const book = path === null ? success(START_BOOK) : await openBook(path, maxPlies ?? Number.POSITIVE_INFINITY);
  if (!book.ok) return book;
  const { size } = book.value;
  const lineOf = createOpeningSequence(size, order, seed);
  const openings = new Map<number, Opening>();
  let noted = 0;
  // In the orders `sequential` and `shuffled`, no line repeats before the end of the book.
  const pairs = Math.ceil(games / 2);
  const distinct = order === 'random' ? pairs : Math.min(pairs, size);
  for (let pair = 0; pair < distinct; pair++) {
    const line = lineOf(pair);
    if (openings.has(line)) continue;
    const opening = book.value.read(line);
    if (!opening.ok) return opening;
    const { fen, origin, notes = [] } = opening.value;
    for (const note of notes) if (++noted <= MOST_NOTES) onNote?.(`${origin}: ${note}`);
    if (!chess960 && hasChess960Castling(unwrap(parseFen(fen)))) {
      return failure(`${origin} is a position of Chess960: play the match with --chess960`);
    }
    openings.set(line, opening.value);
  }
  if (noted > MOST_NOTES) onNote?.(`${noted - MOST_NOTES} more notes on openings are left out`);
  return success((pair) => openings.get(lineOf(pair)) as Opening);
}

export interface GameOpenings {
  /** Throws one sentence if the line of the book is damaged. */
  readonly at: (game: number) => Opening;
  /** Games that use every line once, or twice when mirrored. */
  readonly gamesOfBook: number;
}

export async function createGameOpenings(request: {
  readonly book: string | null;
  readonly order: OpeningOrder;
  /** Each opening twice in a row, so that both players have it with both colours. */
  readonly isMirrored: boolean;
  readonly seed: number;
}): Promise<Result<GameOpenings>> {
  const opened = request.book === null ? success(START_BOOK) : await openBook(request.book);
  if (!opened.ok) return opened;
  const book = opened.value;
  const lineOf = createOpeningSequence(book.size, request.order, request.seed);
  const shift = request.isMirrored ? 1 : 0;
  return success({ at: (game) => unwrap(book.read(lineOf(game >> shift))), gamesOfBook: book.size << shift });
}
