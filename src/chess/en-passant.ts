/**
 * En passant takes two pawns off one rank at once, which no pin mask describes: each capture is tried on the
 * occupancy it leaves behind. It is rare enough not to matter for speed.
 */
import { isAttacked } from './attacks.js';
import type { Board } from './board.js';
import { PAWN_ATTACKS } from './leapers.js';
import { PAWN } from './piece.js';

/** Word 0 or 1 of the set of pawns of the side to move that attack the en passant square, pinned ones included. */
export function enPassantCapturers(board: Board, square: number, word: number): number {
  const us = board.sideToMove;
  return PAWN_ATTACKS[((us ^ 1) << 7) + 2 * square + word] & board.masks[(us << 4) + 2 * PAWN + word];
}

/** Does capturing en passant from `from` to `square` leave the own king safe? */
export function isEnPassantSafe(board: Board, from: number, square: number): boolean {
  const masks = board.masks;
  const us = board.sideToMove;
  // `from` and the victim leave, `square` is filled; a victim outside the occupancy no longer attacks.
  const low = wordBit(from, 0) | wordBit(square, 0) | wordBit(square ^ 8, 0);
  const high = wordBit(from, 1) | wordBit(square, 1) | wordBit(square ^ 8, 1);
  const occupiedLow = (masks[0] | masks[16]) ^ low;
  const occupiedHigh = (masks[1] | masks[17]) ^ high;
  return !isAttacked(masks, board.kingSquare(us), us ^ 1, occupiedLow, occupiedHigh);
}

function wordBit(square: number, word: number): number {
  return square >> 5 === word ? 1 << square : 0;
}

/** Can the side to move legally capture en passant on `square`? */
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
