/** The opening of each pair of a match, checked before the first game so that a damaged book cannot end it midway. */
import { type Result, success } from '../../util/index.js';
import type { Opening } from '../openings/book.js';
import { createOpeningSequence, type OpeningOrder, openBook, START_BOOK } from '../openings/book.js';

export interface MatchOpenings {
  /** Null = the initial position. */
  readonly book: string | null;
  /** Longest line taken from a PGN book. */
  readonly maxPlies: number | null;
  readonly order: OpeningOrder;
  readonly seed: number;
  readonly games: number;
}

export function createMatchOpenings(request: MatchOpenings): Result<(pair: number) => Opening> {
  const { book: path, maxPlies, order, seed, games } = request;
  const book = path === null ? success(START_BOOK) : openBook(path, maxPlies ?? Number.POSITIVE_INFINITY);
  if (!book.ok) return book;
  const { size } = book.value;
  const lineOf = createOpeningSequence(size, order, seed);
  const openings = new Map<number, Opening>();
  // In sequence and shuffled, lines repeat after the whole book.
  const pairs = Math.ceil(games / 2);
  const distinct = order === 'random' ? pairs : Math.min(pairs, size);
  for (let pair = 0; pair < distinct; pair++) {
    const line = lineOf(pair);
    if (openings.has(line)) continue;
    const opening = book.value.read(line);
    if (!opening.ok) return opening;
    openings.set(line, opening.value);
  }
  return success((pair) => openings.get(lineOf(pair)) as Opening);
}
