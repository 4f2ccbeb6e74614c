/**
 * Where king and rook end up after castling: the same squares in standard chess and Chess960. Castling to the h-side
 * puts the king on the g-file and the rook on the f-file, castling to the a-side on the c- and d-files. The side is
 * that of the rook, seen from the king.
 */
import type { Board } from './board.js';
import { BLACK, NO_SQUARE, WHITE } from './board.js';

/** Squares of rooks and kings in standard chess, in the order of Board.castlingRooks. */
const STANDARD_ROOKS = [7, 0, 63, 56];
const STANDARD_KINGS = [4, 4, 60, 60];

/** The king's square after castling with the rook on `rookFrom`. */
export function castledKing(kingFrom: number, rookFrom: number): number {
  return (kingFrom & 56) | (rookFrom > kingFrom ? 6 : 2);
}

/** The rook's square after castling. */
export function castledRook(kingFrom: number, rookFrom: number): number {
  return (kingFrom & 56) | (rookFrom > kingFrom ? 5 : 3);
}

/** Whether a king or rook that may still castle stands on another square than in standard chess. */
export function hasChess960Castling(board: Board): boolean {
  return board.castlingRooks.some(
    (rook, index) =>
      rook !== NO_SQUARE &&
      (rook !== STANDARD_ROOKS[index] || board.kingSquare(index < 2 ? WHITE : BLACK) !== STANDARD_KINGS[index]),
  );
}
