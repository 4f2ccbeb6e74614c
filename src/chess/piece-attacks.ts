/** What a single piece attacks, for input encodings that show a network attack maps. */
import { KING_ATTACKS, KNIGHT_ATTACKS, PAWN_ATTACKS } from './leapers.js';
import { BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK } from './piece.js';
import type { Position } from './position.js';
import { antidiagonalEntry, diagonalEntry, fileEntry, LINE_ATTACKS, rankEntry } from './sliders.js';

/**
 * Squares that the piece on `square` attacks, pieces of its own side included and pins ignored: word 0 for squares
 * 0..31, word 1 for the others. 0 when the square is empty.
 */
export function getPieceAttacks(position: Position, square: number, word: 0 | 1): number {
  const piece = position.board[square];
  const type = piece & 7;
  if (type === PAWN) return PAWN_ATTACKS[((piece >> 3) << 7) + 2 * square + word];
  if (type === KNIGHT) return KNIGHT_ATTACKS[2 * square + word];
  if (type === KING) return KING_ATTACKS[2 * square + word];
  const low = position.masks[0] | position.masks[16];
  const high = position.masks[1] | position.masks[17];
  let attacks = 0;
  if (type === ROOK || type === QUEEN) {
    attacks |= LINE_ATTACKS[rankEntry(square, low, high) + word] | LINE_ATTACKS[fileEntry(square, low, high) + word];
  }
  if (type === BISHOP || type === QUEEN) {
    attacks |= LINE_ATTACKS[diagonalEntry(square, low, high) + word];
    attacks |= LINE_ATTACKS[antidiagonalEntry(square, low, high) + word];
  }
  return attacks;
}
