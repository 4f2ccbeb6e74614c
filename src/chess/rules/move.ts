/**
 * A move in 16 bits, small enough for a Uint16Array and readable without its position:
 *
 *   bit  15        14..12            11..6   5..0
 *        castling  promotion piece   to      from
 *
 * Castling is written as the king taking its own rook (`to` is the rook's square), in standard chess as in Chess960.
 * Captures and en passant have no flag; the board shows them. The history of a game's moves stands here too.
 */
import * as boards from './board.js';

const { popCount64 } = boards;

export type Move = number & { readonly __move: unique symbol };

export const NO_MOVE = 0 as Move;

export const CASTLING_FLAG = 0x8000;

/** @param promotion piece type the pawn becomes, 0 for none */
export function createMove(from: number, to: number, promotion = 0, castling = false): Move {
  return (from | (to << 6) | (promotion << 12) | (castling ? CASTLING_FLAG : 0)) as Move;
}

export function moveFrom(move: number): boards.Square {
  return (move & 63) as boards.Square;
}

export function moveTo(move: number): boards.Square {
  return ((move >> 6) & 63) as boards.Square;
}

/** KNIGHT, BISHOP, ROOK, QUEEN, or 0 if the move does not promote. */
export function movePromotion(move: number): number {
  return (move >> 12) & 7;
}

export function isCastling(move: number): boolean {
  return (move & CASTLING_FLAG) !== 0;
}

/**
 * Writes a move from `from` to each square of a target set into `into`, starting at index `count`, and returns the
 * index after the last move. If `into` is null it only counts: perft and "has any legal move" need no list, and
 * counting is three times faster.
 */
export function emitTargets(into: Uint16Array | null, count: number, from: number, low: number, high: number): number {
  if (into === null) return count + popCount64(low, high);
  let next = count;
  for (let word = 0; word < 2; word++) {
    for (let rest = word === 0 ? low : high; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      into[next++] = from | (((word << 5) | bit) << 6);
    }
  }
  return next;
}

const FIRST_CAPACITY = 256;

/**
 * The moves of a game and the state before each: what `unmakeMove` restores and what repetition tests compare. One row
 * a ply, kept in columns so that making a move allocates nothing. The columns double when a game outgrows them.
 *
 *   moves         the move
 *   keyLow, keyHigh  key of the position before the move
 *   states        state before the move: bits 0..3 captured piece code, 4..7 castling rights, 8..14 en passant
 *                 square + 1, 15..30 rule50
 */
export class History {
  moves = new Uint16Array(FIRST_CAPACITY);
  keyLow = new Int32Array(FIRST_CAPACITY);
  keyHigh = new Int32Array(FIRST_CAPACITY);
  states = new Int32Array(FIRST_CAPACITY);
  capacity = FIRST_CAPACITY;

  /** Makes room for at least `rows` rows and keeps the present ones. */
  grow(rows: number): void {
    while (this.capacity < rows) this.capacity *= 2;
    const moves = new Uint16Array(this.capacity);
    const keyLow = new Int32Array(this.capacity);
    const keyHigh = new Int32Array(this.capacity);
    const states = new Int32Array(this.capacity);
    moves.set(this.moves);
    keyLow.set(this.keyLow);
    keyHigh.set(this.keyHigh);
    states.set(this.states);
    this.moves = moves;
    this.keyLow = keyLow;
    this.keyHigh = keyHigh;
    this.states = states;
  }

  /** Copies the first `rows` rows of `other`. */
  copyFrom(other: History, rows: number): void {
    if (this.capacity < rows) this.grow(rows);
    this.moves.set(other.moves.subarray(0, rows));
    this.keyLow.set(other.keyLow.subarray(0, rows));
    this.keyHigh.set(other.keyHigh.subarray(0, rows));
    this.states.set(other.states.subarray(0, rows));
  }
}
