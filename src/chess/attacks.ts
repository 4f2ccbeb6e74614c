/**
 * Tells whether a side attacks a square. The caller chooses the set of occupied squares, so it can test a king step,
 * castling or an en passant capture before it is made.
 */
import * as tables from './attack-tables.js';
import { BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK } from './board.js';

const { antidiagonalEntry, BISHOP_RAYS, diagonalEntry, fileEntry, KING_ATTACKS, KNIGHT_ATTACKS } = tables;
const { LINE_ATTACKS, PAWN_ATTACKS, rankEntry, ROOK_RAYS } = tables;

/**
 * @param masks see Board.masks
 * @param occupiedLow,occupiedHigh the occupied squares; a piece that stands elsewhere neither attacks nor blocks
 */
export function isAttacked(
  masks: Int32Array,
  square: number,
  byColor: number,
  occupiedLow: number,
  occupiedHigh: number,
): boolean {
  const own = byColor << 4;
  const entry = square << 1;
  const pawns = entry + ((byColor ^ 1) << 7);
  if (
    ((KNIGHT_ATTACKS[entry] & masks[own + 2 * KNIGHT]) |
      (PAWN_ATTACKS[pawns] & masks[own + 2 * PAWN]) |
      (KING_ATTACKS[entry] & masks[own + 2 * KING])) &
      occupiedLow ||
    ((KNIGHT_ATTACKS[entry + 1] & masks[own + 2 * KNIGHT + 1]) |
      (PAWN_ATTACKS[pawns + 1] & masks[own + 2 * PAWN + 1]) |
      (KING_ATTACKS[entry + 1] & masks[own + 2 * KING + 1])) &
      occupiedHigh
  ) {
    return true;
  }
  // Most squares have no enemy slider on their lines; skip the table look-ups for them.
  const straightLow = (masks[own + 2 * ROOK] | masks[own + 2 * QUEEN]) & occupiedLow;
  const straightHigh = (masks[own + 2 * ROOK + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((ROOK_RAYS[entry] & straightLow) | (ROOK_RAYS[entry + 1] & straightHigh)) {
    const rank = rankEntry(square, occupiedLow, occupiedHigh);
    const file = fileEntry(square, occupiedLow, occupiedHigh);
    const low = LINE_ATTACKS[rank] | LINE_ATTACKS[file];
    const high = LINE_ATTACKS[rank + 1] | LINE_ATTACKS[file + 1];
    if ((low & straightLow) | (high & straightHigh)) return true;
  }
  const diagonalLow = (masks[own + 2 * BISHOP] | masks[own + 2 * QUEEN]) & occupiedLow;
  const diagonalHigh = (masks[own + 2 * BISHOP + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((BISHOP_RAYS[entry] & diagonalLow) | (BISHOP_RAYS[entry + 1] & diagonalHigh)) {
    const diagonal = diagonalEntry(square, occupiedLow, occupiedHigh);
    const antidiagonal = antidiagonalEntry(square, occupiedLow, occupiedHigh);
    const low = LINE_ATTACKS[diagonal] | LINE_ATTACKS[antidiagonal];
    const high = LINE_ATTACKS[diagonal + 1] | LINE_ATTACKS[antidiagonal + 1];
    if ((low & diagonalLow) | (high & diagonalHigh)) return true;
  }
  return false;
}
