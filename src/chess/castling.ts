/**
 * Where castling ends, which is the same in standard chess and Chess960: h-side on the g and f files, a-side on the c
 * and d files. The side is the side of the king on which the rook stands.
 */

/** The king's square after castling with the rook on `rookFrom`. */
export function castledKing(kingFrom: number, rookFrom: number): number {
  return (kingFrom & 56) | (rookFrom > kingFrom ? 6 : 2);
}

/** The rook's square after castling. */
export function castledRook(kingFrom: number, rookFrom: number): number {
  return (kingFrom & 56) | (rookFrom > kingFrom ? 5 : 3);
}
