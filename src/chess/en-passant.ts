/**
 * Legality of en passant captures. A capture removes two pawns from one rank at once, which no pin mask describes, so
 * each capture is tested with the occupied squares that it would leave. It is too rare to matter for speed.
 */
import { isAttacked } from './attacks.js';
import type { Board } from './board.js';
import { PAWN_ATTACKS } from './leapers.js';
import { PAWN } from './piece.js';

/**
 * The set of pawns of the side to move that attack `square`, pinned ones included.
 * @param word which word of the set: 0 for squares 0..31, 1 for squares 32..63
 */
export function enPassantCapturers(board: Board, square: number, word: number): number {
  const us = board.sideToMove;
  return PAWN_ATTACKS[((us ^ 1) << 7) + 2 * square + word] & board.masks[(us << 4) + 2 * PAWN + word];
}

/** Whether the own king is safe after the en passant capture from `from` to `square`. */
export function isEnPassantSafe(board: Board, from: number, square: number): boolean {
  const masks = board.masks;
  const us = board.sideToMove;
  // `from` and the captured pawn's square become empty, `square` becomes occupied.
  const low = wordBit(from, 0) | wordBit(square, 0) | wordBit(square ^ 8, 0);
  const high = wordBit(from, 1) | wordBit(square, 1) | wordBit(square ^ 8, 1);
  const occupiedLow = (masks[0] | masks[16]) ^ low;
  const occupiedHigh = (masks[1] | masks[17]) ^ high;
  return !isAttacked(masks, board.kingSquare(us), us ^ 1, occupiedLow, occupiedHigh);
}

function wordBit(square: number, word: number): number {
  return square >> 5 === word ? 1 << square : 0;
}

/** Whether the side to move can legally capture en passant on `square`. */
export function isEnPassantLegal(board: Board, square: number): boolean {
  for (let word = 0; word < 2; word++) {
    let pawns = enPassantCapturers(board, square, word);
    while (pawns !== 0) {
      const bit = 31 - Math.clz32(pawns);
      pawns ^= 1 << bit;
      if (isEnPassantSafe(board, (word << 5) | bit, square)) return true;
    }
  }
  return false;
}
