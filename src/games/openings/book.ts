/**
 * Opening books: EPD and FEN lists, PGN and Polyglot (.bin), plain or packed (gzip, zstd, bzip2, ZIP, tar). The name of the file,
 * or of the file in an archive, tells Polyglot's from the others. A line is parsed when it is used, so a book of 150,000 positions opens at once. Errors name file and line.
 */
import { basename } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import {
  BrokenInput,
  createPrng,
  decodeText,
  failure,
  mixSeeds,
  type Prng,
  type Result,
  readUntilBreak,
  success,
  unwrap,
} from '../../base/util/index.js';
import { isPolyglot } from '../../chess/archives/index.js';
import {
  isRemarkLine,
  openGameTexts,
  type PgnText,
  readPgn,
  readPgnGame,
  readPositionText,
} from '../../chess/pgn/index.js';
import { listLegalMoves, type Move, Position, parseFen, START_FEN } from '../../chess/rules/index.js';
import { collectChunks, findInputKind, readChunks } from '../records/index.js';
import { computePolyglotKey } from './polyglot-key.js';

/** Where a game starts: a position and the book moves from it. */
export interface Opening {
  readonly fen: string;
  readonly moves: readonly Move[];
  /** Its place in the book, for messages: "noob_3moves.epd, line 17". */
  readonly origin: string;
  /** What was dropped from its position; absent = nothing. */
  readonly notes?: readonly string[];
}

/** The position after the book moves, with its history. The opening must have been checked when it was read. */
export function createOpeningPosition(opening: Opening): Position {
  const position = unwrap(parseFen(opening.fen));
  for (const move of opening.moves) position.makeMove(move);
  return position;
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
  const damages: Error[] = [];
  try {
    const kind = await findInputKind(path);
    const chunks = limitChunks(readChunks(path, kind));
    if (kind === 'polyglot') return createPolyglotBook(name, await collectChunks(chunks), maxPlies);
    const pieces = readUntilBreak(decodeText(chunks), (error) => damages.push(error));
    const texts = await openGameTexts(pieces, kind === 'pgn' ? 'games' : 'positions');
    const book =
      texts.kind === 'games'
        ? await readPgnBook(name, texts.all, maxPlies)
        : await readPositionBook(name, texts.all, maxPlies);
    // A match with the rest would be another one than the user wants.
    if (damages.length > 0) {
      const before = book.size === 0 ? '' : ` (${book.size} openings begin before that place)`;
      return failure(`The book ${path} cannot be read: ${describeReadFailure(damages[0])}${before}`);
    }
    return book.size > 0 ? success(book) : failure(`The book ${path} holds no openings`);
  } catch (error) {
    return failure(`The book ${path} cannot be read: ${describeReadFailure(error)}`);
  }
}

async function* limitChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > LARGEST_BOOK_BYTES) {
      throw new BrokenInput(`it has more than ${LARGEST_BOOK_BYTES >> 20} MB when it is unpacked`);
    }
    yield chunk;
  }
}

/** Keeps the text in large pieces, and where each line starts: millions of strings would take twice the room. */
async function readPositionBook(name: string, pieces: AsyncIterable<string>, maxPlies: number): Promise<Book> {
  const kept: string[] = [];
  /** Of each opening: its piece, its place in it, its row in the file. */
  const places: number[] = [];
  let row = 1;
  let isInLine = false;
  for await (const piece of pieces) {
    for (let start = 0; start < piece.length; row++) {
      const end = findLineEnd(piece, start);
      // A piece ends within a line only when the line is far too long.
      if (!isInLine && !isRemarkLine(piece.slice(start, end))) {
        places.push(kept.length, start, row);
      }
      isInLine = end === piece.length;
      if (isInLine) row--;
      start = end + 1;
    }
    kept.push(piece);
    if (row > MOST_LINES) throw new BrokenInput(`it has more than ${MOST_LINES} lines`);
    if (places.length > 3 * MOST_POSITIONS) throw new BrokenInput(`it has more than ${MOST_POSITIONS} openings`);
  }
  return {
    name,
    size: places.length / 3,
    read: (index) => {
      const [piece, start, row] = places.slice(3 * index, 3 * index + 3);
      const end = Math.min(findLineEnd(kept[piece], start), start + LONGEST_LINE);
      const source = readPositionText({ text: kept[piece].slice(start, end), number: row }, index + 1);
      return source.ok
        ? readOpening(source.value, `${name}, line ${row}`, maxPlies)
        : failure(`${name}: ${source.error}`);
    },
  };
}

function readOpening(source: PgnText, origin: string, maxPlies: number): Result<Opening> {
  const game = readPgnGame(source, { maxPlies });
  const problem = game.ok ? game.value.problem : game.error;
  if (!game.ok || problem !== null) return failure(`${origin}, ${problem}`);
  const { startFen, moves, notes } = game.value;
  return success({ fen: startFen, moves, origin, notes });
}

function findLineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

async function readPgnBook(name: string, pieces: AsyncIterable<string>, maxPlies: number): Promise<Book> {
  const games: PgnText[] = [];
  for await (const game of readPgn(pieces)) {
    if (games.push(game) > MOST_GAMES) throw new BrokenInput(`it has more than ${MOST_GAMES} openings`);
  }
  return {
    name,
    size: games.length,
    read: (index) => readOpening(games[index], `${name}, game ${index + 1}`, maxPlies),
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

// Polyglot opening books (.bin): entries of 16 bytes, sorted by a hash of the position, with a move and its weight. Such a
// book holds positions and no lines, so lines are made at random: from the initial position until the book ends, each move with
// a probability in proportion to its weight. Line n is always the same.
// Source: the book format's description by M. Bluemink and H. G. Muller (http://hgm.nubati.net/book_format.html).

export interface Book {
  readonly name: string;
  readonly size: number;
  read(index: number): Result<Opening>;
}

const ENTRY_BYTES = 16;
/** Number of lines, since a Polyglot book has none of its own. */
const LINES = 10_000;
/** Length of a line when the user gives none. */
const DEFAULT_PLIES = 16;

interface BookMove {
  readonly move: Move;
  readonly weight: number;
}

/** @param maxPlies longest line; Infinity = 16 plies */
export function createPolyglotBook(name: string, bytes: Uint8Array, maxPlies: number): Result<Book> {
  if (bytes.length === 0 || bytes.length % ENTRY_BYTES !== 0) {
    return failure(`${name} is not a Polyglot book: its size is not a multiple of ${ENTRY_BYTES} bytes`);
  }
  const plies = Number.isFinite(maxPlies) ? maxPlies : DEFAULT_PLIES;
  if (!isPolyglot(bytes)) {
    return failure(
      `${name} is not a Polyglot book: its entries are not moves, sorted by position. Books of other programs are not read: save their lines as PGN, or convert them to Polyglot`,
    );
  }
  const entries = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (listBookMoves(entries, new Position()).length === 0) {
    return failure(`${name} has no move for the initial position`);
  }
  return success({
    name,
    size: LINES,
    read: (index) => {
      const moves = drawLine(entries, plies, createPrng(mixSeeds(0, index)));
      return success({ fen: START_FEN, moves, origin: `${name}, line ${index + 1}` });
    },
  });
}

function drawLine(entries: DataView, plies: number, random: Prng): Move[] {
  const position = new Position();
  const line: Move[] = [];
  while (line.length < plies) {
    const moves = listBookMoves(entries, position);
    if (moves.length === 0) break;
    const move = drawMove(moves, random);
    line.push(move);
    position.makeMove(move);
  }
  return line;
}

function drawMove(moves: readonly BookMove[], random: Prng): Move {
  let rest = random.nextBelow(moves.reduce((sum, { weight }) => sum + weight, 0));
  let drawn = 0;
  while (rest >= moves[drawn].weight) rest -= moves[drawn++].weight;
  return moves[drawn].move;
}

/** The legal moves that the book has for the position, with weights above 0. */
function listBookMoves(entries: DataView, position: Position): BookMove[] {
  const key = computePolyglotKey(position);
  const count = entries.byteLength / ENTRY_BYTES;
  const legal = listLegalMoves(position);
  const moves: BookMove[] = [];
  for (let entry = findFirst(entries, key, count); entry < count; entry++) {
    const at = entry * ENTRY_BYTES;
    if (entries.getBigUint64(at) !== key) break;
    const move = findMove(position, legal, entries.getUint16(at + 8));
    const weight = entries.getUint16(at + 10);
    if (move !== undefined && weight > 0) moves.push({ move, weight });
  }
  return moves;
}

/** Index of the first entry whose key is not below `key`. */
function findFirst(entries: DataView, key: bigint, count: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries.getBigUint64(middle * ENTRY_BYTES) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Bits of a book move: to 0–5, from 6–11, promotion 12–14 (knight 1 … queen 4). Castling is king takes rook, as here; some programs
 * write it as the king's two steps, which is no other legal move.
 */
function findMove(position: Position, legal: readonly Move[], code: number): Move | undefined {
  const promotion = code >> 12 === 0 ? 0 : (code >> 12) + 1;
  const from = (code >> 6) & 63;
  const to = code & 63;
  const wanted = from | (to << 6) | (promotion << 12);
  const move = legal.find((one) => (one & 0x7fff) === wanted);
  if (move !== undefined || from !== position.kingSquare(position.sideToMove) || Math.abs(to - from) !== 2) return move;
  return legal.find((one) => one & 0x8000 && ((one >> 6) & 63) > from === to > from);
}
