/**
 * Polyglot opening books (.bin): entries of 16 bytes, sorted by a hash of the position, with a move and its weight. Such a
 * book holds positions and no lines, so lines are made at random: from the initial position until the book ends, each move with
 * a probability in proportion to its weight. Line n is always the same.
 * Source: the book format's description by M. Bluemink and H. G. Muller (http://hgm.nubati.net/book_format.html).
 */
import { listLegalMoves, type Move, Position, START_FEN } from '../../chess/index.js';
import { createPrng, failure, mixSeeds, type Prng, type Result, success } from '../../util/index.js';
import type { Book } from './book.js';
import { computePolyglotKey } from './polyglot-key.js';

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
