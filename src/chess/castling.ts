/**
 * Where castling ends, which is the same in standard chess and Chess960: h-side on the g and f files, a-side on the c
 * and d files. The side is the side of the king on which the rook stands.
 */
import { BLACK, WHITE } from './piece.js';
import type { Position } from './position.js';
import { NO_SQUARE } from './square.js';

/** In the order of Position.castlingRooks. */
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

/** Whether some castling that is still possible starts from other squares than in standard chess. */
export function hasChess960Castling(position: Position): boolean {
  return position.castlingRooks.some(
    (rook, index) =>
      rook !== NO_SQUARE &&
      (rook !== STANDARD_ROOKS[index] || position.kingSquare(index < 2 ? WHITE : BLACK) !== STANDARD_KINGS[index]),
  );
}
