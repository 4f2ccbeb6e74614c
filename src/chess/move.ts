/**
 * A move in 16 bits, small enough for a Uint16Array and readable without its position:
 *
 *   bit  15        14..12            11..6   5..0
 *        castling  promotion piece   to      from
 *
 * Castling is written as the king taking its own rook (`to` is the rook's square), in standard chess as in Chess960.
 * Captures and en passant have no flag; the board shows them.
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
  for (let rest = low; rest !== 0; ) {
    const to = 31 - Math.clz32(rest);
    rest ^= 1 << to;
    into[next++] = from | (to << 6);
  }
  for (let rest = high; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    into[next++] = from | ((32 | bit) << 6);
  }
  return next;
}
