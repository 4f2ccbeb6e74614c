/** The opening of each self-play game, in lc0's modes. */
import { type Result, success, unwrap } from '../../util/index.js';
import type { Opening } from '../openings/book.js';
import { createOpeningSequence, type OpeningOrder, openBook, START_BOOK } from '../openings/book.js';

export interface GameOpenings {
  /** A damaged line of the book throws its sentence. */
  readonly at: (game: number) => Opening;
  /** Games that use every line once, or twice when mirrored. */
  readonly gamesOfBook: number;
}

export function createGameOpenings(request: {
  readonly book: string | null;
  readonly order: OpeningOrder;
  /** Each opening twice in a row, so that both players have it with both colours. */
  readonly isMirrored: boolean;
  readonly seed: number;
}): Result<GameOpenings> {
  const opened = request.book === null ? success(START_BOOK) : openBook(request.book);
  if (!opened.ok) return opened;
  const book = opened.value;
  const lineOf = createOpeningSequence(book.size, request.order, request.seed);
  const shift = request.isMirrored ? 1 : 0;
  return success({ at: (game) => unwrap(book.read(lineOf(game >> shift))), gamesOfBook: book.size << shift });
}
