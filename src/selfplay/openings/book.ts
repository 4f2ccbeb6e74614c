/**
 * Opening books: EPD and FEN lists, PGN and Polyglot (.bin), plain or packed (gzip, zstd, bzip2, ZIP, tar). The name of the file,
 * or of the file in an archive, decides the format. A line is parsed when it is used, so a book of 150,000 positions opens at once. Errors name file and line.
 */
import { basename } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import { type Move, type Position, parseEpdLine, parseFen, START_FEN } from '../../chess/index.js';
import { findInputKind, readChunks } from '../../data/index.js';
import { type PgnText, readPgn, readPgnGame } from '../../pgn/index.js';
import {
  BrokenInput,
  createPrng,
  decodeText,
  failure,
  mixSeeds,
  type Result,
  success,
  unwrap,
} from '../../util/index.js';
import { createPolyglotBook } from './polyglot-book.js';

/** Where a game starts: a position and the book moves from it. */
export interface Opening {
  readonly fen: string;
  readonly moves: readonly Move[];
  /** Its place in the book, for messages: "noob_3moves.epd, line 17". */
  readonly origin: string;
}

/** The position after the book moves, with its history. The opening must have been checked when it was read. */
export function createOpeningPosition(opening: Opening): Position {
  const position = unwrap(parseFen(opening.fen));
  for (const move of opening.moves) position.makeMove(move);
  return position;
}

export interface Book {
  readonly name: string;
  readonly size: number;
  read(index: number): Result<Opening>;
}

export type OpeningOrder = 'sequential' | 'random' | 'shuffled';

/** The initial position alone. */
export const START_BOOK: Book = {
  name: 'the initial position',
  size: 1,
  read: () => success({ fen: START_FEN, moves: [], origin: 'the initial position' }),
};

/** Of a book when it is unpacked: the largest one in use has 2.6 million positions, 180 MB. */
const LARGEST_BOOK_BYTES = 192 << 20;
const MOST_LINES = 1 << 24;
const MOST_POSITIONS = 1 << 22;
const MOST_GAMES = 1 << 19;
/** No opening is longer; of a longer line the rest is left out. */
const LONGEST_LINE = 1 << 12;

/** @param maxPlies longest line taken from a PGN book */
export async function openBook(path: string, maxPlies = Number.POSITIVE_INFINITY): Promise<Result<Book>> {
  const name = basename(path);
  const kind = await findInputKind(path);
  const chunks = limitChunks(readChunks(path, () => undefined, kind));
  try {
    if (kind === 'polyglot') return createPolyglotBook(name, await collect(chunks), maxPlies);
    const book = kind === 'pgn' ? await readPgnBook(name, chunks, maxPlies) : await readEpdBook(name, chunks);
    return book.size > 0 ? success(book) : failure(`The book ${path} holds no openings`);
  } catch (error) {
    return failure(`The book ${path} cannot be read: ${describeReadFailure(error)}`);
  }
}

async function* limitChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > LARGEST_BOOK_BYTES) {
      throw new BrokenInput(`it has more than ${LARGEST_BOOK_BYTES >> 20} MB when it is unpacked`);
    }
    yield chunk;
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** Keeps the text in large pieces, and where each line starts: millions of strings would take twice the room. */
async function readEpdBook(name: string, chunks: AsyncIterable<Buffer>): Promise<Book> {
  const pieces: string[] = [];
  /** Of each opening: its piece, its place in it, its row in the file. */
  const places: number[] = [];
  let row = 1;
  let isInLine = false;
  for await (const piece of decodeText(chunks)) {
    for (let start = 0; start < piece.length; row++) {
      const end = findLineEnd(piece, start);
      // A piece ends within a line only when the line is far too long.
      if (!isInLine && piece[start] !== '#' && piece.slice(start, end).trim() !== '') {
        places.push(pieces.length, start, row);
      }
      isInLine = end === piece.length;
      if (isInLine) row--;
      start = end + 1;
    }
    pieces.push(piece);
    if (row > MOST_LINES) throw new BrokenInput(`it has more than ${MOST_LINES} lines`);
    if (places.length > 3 * MOST_POSITIONS) throw new BrokenInput(`it has more than ${MOST_POSITIONS} openings`);
  }
  return {
    name,
    size: places.length / 3,
    read: (index) => {
      const [piece, start, row] = places.slice(3 * index, 3 * index + 3);
      const end = Math.min(findLineEnd(pieces[piece], start), start + LONGEST_LINE);
      const origin = `${name}, line ${row}`;
      const fen = parseEpdLine(pieces[piece].slice(start, end));
      return fen.ok ? success({ fen: fen.value.fen, moves: [], origin }) : failure(`${origin}: ${fen.error}`);
    },
  };
}

function findLineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

async function readPgnBook(name: string, chunks: AsyncIterable<Buffer>, maxPlies: number): Promise<Book> {
  const games: PgnText[] = [];
  for await (const game of readPgn(decodeText(chunks))) {
    if (games.push(game) > MOST_GAMES) throw new BrokenInput(`it has more than ${MOST_GAMES} openings`);
  }
  return {
    name,
    size: games.length,
    read: (index) => {
      const origin = `${name}, game ${index + 1}`;
      const game = readPgnGame(games[index], { maxPlies });
      const problem = game.ok ? game.value.problem : game.error;
      if (!game.ok || problem !== null) return failure(`${origin}, ${problem}`);
      return success({ fen: game.value.startFen, moves: game.value.moves, origin });
    },
  };
}

/**
 * Which book line the n-th opening of a run is, for every n ≥ 0, with lc0's names (`--openings-mode`): `shuffled` is one
 * seeded shuffle, used again when the book ends; `random` draws every line anew and so may repeat one early.
 */
export function createOpeningSequence(size: number, order: OpeningOrder, seed: number): (n: number) => number {
  if (order === 'sequential') return (n) => n % size;
  if (order === 'random') return (n) => createPrng(mixSeeds(seed, n)).nextBelow(size);
  const indices = shuffleIndices(size, seed);
  return (n) => indices[n % size];
}

function shuffleIndices(size: number, seed: number): Uint32Array {
  const prng = createPrng(seed);
  const indices = Uint32Array.from({ length: size }, (_, i) => i);
  for (let i = size - 1; i > 0; i--) {
    const j = prng.nextBelow(i + 1);
    const swapped = indices[i];
    indices[i] = indices[j];
    indices[j] = swapped;
  }
  return indices;
}
