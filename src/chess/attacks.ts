/**
 * Is a square attacked? Asked with an occupancy of the caller's choosing, so that king moves, castling and en passant
 * can be judged before they are made: only attackers standing on occupied squares count.
 */

import { KING_ATTACKS, KNIGHT_ATTACKS, PAWN_ATTACKS } from './leapers.js';
import { BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK } from './piece.js';
import { BISHOP_RAYS, ROOK_RAYS } from './rays.js';
import { antidiagonalEntry, diagonalEntry, fileEntry, rankEntry, SLIDER_ATTACKS } from './sliders.js';

/** `masks` as in Position: two words a piece code. */
export function isAttacked(
  masks: Int32Array,
  square: number,
  byColor: number,
  occupiedLow: number,
  occupiedHigh: number,
): boolean {
  const own = byColor << 4;
  const s = square << 1;
  const pawns = s + ((byColor ^ 1) << 7);
  if (
    ((KNIGHT_ATTACKS[s] & masks[own + 2 * KNIGHT]) |
      (PAWN_ATTACKS[pawns] & masks[own + 2 * PAWN]) |
      (KING_ATTACKS[s] & masks[own + 2 * KING])) &
      occupiedLow ||
    ((KNIGHT_ATTACKS[s + 1] & masks[own + 2 * KNIGHT + 1]) |
      (PAWN_ATTACKS[pawns + 1] & masks[own + 2 * PAWN + 1]) |
      (KING_ATTACKS[s + 1] & masks[own + 2 * KING + 1])) &
      occupiedHigh
  ) {
    return true;
  }
  // Most squares have no slider on their lines at all; the table look-ups are for the others.
  const straightLow = (masks[own + 2 * ROOK] | masks[own + 2 * QUEEN]) & occupiedLow;
  const straightHigh = (masks[own + 2 * ROOK + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((ROOK_RAYS[s] & straightLow) | (ROOK_RAYS[s + 1] & straightHigh)) {
    const rank = rankEntry(square, occupiedLow, occupiedHigh);
    const file = fileEntry(square, occupiedLow, occupiedHigh);
    const low = SLIDER_ATTACKS[rank] | SLIDER_ATTACKS[file];
    const high = SLIDER_ATTACKS[rank + 1] | SLIDER_ATTACKS[file + 1];
    if ((low & straightLow) | (high & straightHigh)) return true;
  }
  const diagonalLow = (masks[own + 2 * BISHOP] | masks[own + 2 * QUEEN]) & occupiedLow;
  const diagonalHigh = (masks[own + 2 * BISHOP + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((BISHOP_RAYS[s] & diagonalLow) | (BISHOP_RAYS[s + 1] & diagonalHigh)) {
    const diagonal = diagonalEntry(square, occupiedLow, occupiedHigh);
    const antidiagonal = antidiagonalEntry(square, occupiedLow, occupiedHigh);
    const low = SLIDER_ATTACKS[diagonal] | SLIDER_ATTACKS[antidiagonal];
    const high = SLIDER_ATTACKS[diagonal + 1] | SLIDER_ATTACKS[antidiagonal + 1];
    if ((low & diagonalLow) | (high & diagonalHigh)) return true;
  }
  return false;
}
