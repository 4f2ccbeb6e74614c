/**
 * Opening books: EPD and FEN lists, PGN and Polyglot (.bin), plain or compressed (gzip, zstd, bzip2). The file's name decides
 * the format. A line is parsed when it is used, so a book of 150,000 positions opens at once. Errors name file and line.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import { type Move, type Position, parseEpdLine, parseFen, START_FEN } from '../../chess/index.js';
import { unpackSync } from '../../data/index.js';
import { readPgnGame, splitPgn } from '../../pgn/index.js';
import { createPrng, failure, mixSeeds, type Result, success, unwrap } from '../../util/index.js';
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

/** @param maxPlies longest line taken from a PGN book */
export function openBook(path: string, maxPlies = Number.POSITIVE_INFINITY): Result<Book> {
  let bytes: Buffer;
  try {
    bytes = unpackSync(readFileSync(path));
  } catch (error) {
    return failure(`The book ${path} cannot be read: ${describeReadFailure(error)}`);
  }
  const name = basename(path);
  const isPgn = /\.pgn(\.\w+)?$/i.test(path);
  if (/\.bin(\.\w+)?$/i.test(path)) return createPolyglotBook(name, bytes, maxPlies);
  const book = isPgn ? createPgnBook(name, bytes, maxPlies) : createEpdBook(name, bytes.toString('utf8'));
  return book.size > 0 ? success(book) : failure(`The book ${path} holds no openings`);
}

function createEpdBook(name: string, text: string): Book {
  const lines = text.split('\n');
  const used = [...lines.keys()].filter((row) => lines[row].trim() !== '' && !lines[row].startsWith('#'));
  return {
    name,
    size: used.length,
    read: (index) => {
      const row = used[index];
      const origin = `${name}, line ${row + 1}`;
      const fen = parseEpdLine(lines[row]);
      return fen.ok ? success({ fen: fen.value, moves: [], origin }) : failure(`${origin}: ${fen.error}`);
    },
  };
}

function createPgnBook(name: string, bytes: Buffer, maxPlies: number): Book {
  const games = splitPgn(bytes);
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
