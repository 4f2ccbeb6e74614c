/**
 * A move in 16 bits, small enough for a Uint16Array and meaningful without its position:
 *
 *   bit  15        14..12            11..6   5..0
 *        castling  promotion piece   to      from
 *
 * Castling is written king takes own rook (`to` is the rook's square), in standard chess as in Chess960, so that one
 * form serves both. En passant and captures need no flag: the board tells.
 */
import type { Square } from './square.js';

export type Move = number & { readonly __move: unique symbol };

export const NO_MOVE = 0 as Move;

export const CASTLING_FLAG = 0x8000;

export function createMove(from: number, to: number, promotion = 0, castling = false): Move {
  return (from | (to << 6) | (promotion << 12) | (castling ? CASTLING_FLAG : 0)) as Move;
}

export function moveFrom(move: number): Square {
  return (move & 63) as Square;
}

export function moveTo(move: number): Square {
  return ((move >> 6) & 63) as Square;
}

/** KNIGHT, BISHOP, ROOK, QUEEN, or 0 when the move does not promote. */
export function movePromotion(move: number): number {
  return (move >> 12) & 7;
}

export function isCastling(move: number): boolean {
  return (move & CASTLING_FLAG) !== 0;
}
