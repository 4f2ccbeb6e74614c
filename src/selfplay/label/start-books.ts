/** Draws where a labelled game starts: a source by weight, a line of it, and how many random plies follow. */
import { formatFen, Position, parseFen } from '../../chess/index.js';
import { failure, type Prng, type Result, success, unwrap } from '../../util/index.js';
import { type Book, createOpeningPosition, openBook } from '../openings/book.js';
import type { StartSource } from './label-settings.js';
import { createRandomEndgame } from './random-endgame.js';

/** The opened book of each source; null for `startpos` and `endgames`. */
export type StartBooks = readonly (Book | null)[];

export async function openStartBooks(sources: readonly StartSource[]): Promise<Result<StartBooks>> {
  if (!sources.some(({ weight }) => weight > 0)) return failure('No source of starting positions has a weight above 0');
  const books: (Book | null)[] = [];
  for (const { book } of sources) {
    if (book === 'startpos' || book === 'endgames') {
      books.push(null);
      continue;
    }
    const opened = await openBook(book);
    if (!opened.ok) return opened;
    books.push(opened.value);
  }
  return success(books);
}

/** Throws one sentence that names the line if a line of a book is damaged. */
export function drawStart(
  books: StartBooks,
  sources: readonly StartSource[],
  prng: Prng,
): { position: Position; randomPlies: number } {
  let rest = prng.nextFloat() * sources.reduce((sum, { weight }) => sum + weight, 0);
  let chosen = 0;
  while (chosen < sources.length - 1 && rest >= sources[chosen].weight) rest -= sources[chosen++].weight;
  const source = sources[chosen];
  const [least, most] = source.randomPlies;
  const randomPlies = least + prng.nextBelow(most - least + 1);
  const book = books[chosen];
  if (book !== null) {
    const opening = createOpeningPosition(unwrap(book.read(prng.nextBelow(book.size))));
    // The output holds only a FEN, so the game must start without history too.
    return { position: unwrap(parseFen(formatFen(opening))), randomPlies };
  }
  const position = source.book === 'endgames' ? unwrap(parseFen(createRandomEndgame(prng))) : new Position();
  return { position, randomPlies };
}

/** `PATH`, `PATH:WEIGHT`, `PATH:WEIGHT:PLIES` or `PATH:WEIGHT:LEAST-MOST`; the path may hold colons of its own. */
export function parseStartSource(text: string): Result<StartSource> {
  const match = /^(.+?)(?::(\d+(?:\.\d+)?)(?::(\d+)(?:-(\d+))?)?)?$/.exec(text);
  if (match === null) return failure(`"${text}" is not of the form PATH:WEIGHT:LEAST-MOST`);
  const least = Number(match[3] ?? 0);
  const most = Number(match[4] ?? match[3] ?? 0);
  if (most < least) return failure(`"${text}": ${least}-${most} is not a range`);
  return success({ book: match[1], weight: Number(match[2] ?? 1), randomPlies: [least, most] });
}
