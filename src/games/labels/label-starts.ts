/**
 * Draws where a labelled game starts: a source by weight, a line of it, and how many random plies follow. One source is random
 * positions of few pieces, because labelled games from books rarely reach endgames.
 */
import { failure, type Prng, type Result, success, unwrap } from '../../base/util/index.js';
import { computeOutcome, formatFen, formatPlacement, Position, parseFen, parsePiece } from '../../chess/rules/index.js';
import { type Book, createOpeningPosition, openBook } from '../openings/index.js';
import type { StartSource } from './label-settings.js';

const PIECES = 'qrrbbnn';
const MOST_PIECES = 2;
const MOST_PAWNS = 4;

export function createRandomEndgame(prng: Prng): string {
  for (;;) {
    const fen = placeRandomPieces(prng);
    const position = parseFen(fen);
    if (position.ok && !position.value.inCheck() && computeOutcome(position.value) === 'ongoing') return fen;
  }
}

function placeRandomPieces(prng: Prng): string {
  const board = new Int8Array(64);
  const place = (letter: string, ranks: readonly [from: number, to: number]): void => {
    for (;;) {
      const square = 8 * (ranks[0] + prng.nextBelow(ranks[1] - ranks[0] + 1)) + prng.nextBelow(8);
      if (board[square] !== 0) continue;
      board[square] = parsePiece(letter);
      return;
    }
  };
  const pawns = prng.nextBelow(MOST_PAWNS + 1);
  for (const isWhite of [true, false]) {
    const paint = (letter: string): string => (isWhite ? letter.toUpperCase() : letter);
    place(paint('k'), [0, 7]);
    for (let i = prng.nextBelow(MOST_PIECES + 1); i > 0; i--)
      place(paint(PIECES[prng.nextBelow(PIECES.length)]), [0, 7]);
    // Nearly equal numbers of pawns: far from it, the result would only be material.
    for (let i = Math.max(0, pawns + prng.nextBelow(3) - 1); i > 0; i--) place(paint('p'), [1, 6]);
  }
  return `${formatPlacement(board)} ${prng.nextBelow(2) === 0 ? 'w' : 'b'} - - 0 1`;
}

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
