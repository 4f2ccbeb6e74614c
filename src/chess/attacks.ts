/**
 * Is a square attacked? Asked with an occupancy of the caller's choosing, so that king moves, castling and en passant
 * can be judged before they are made: only attackers standing on occupied squares count.
 */

import * as leapers from './leapers.js';
import { BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK } from './piece.js';
import * as rays from './rays.js';
import * as sliders from './sliders.js';

const { KING_ATTACKS, KNIGHT_ATTACKS, PAWN_ATTACKS } = leapers;
const { BISHOP_RAYS, ROOK_RAYS } = rays;
const { antidiagonalEntry, diagonalEntry, fileEntry, LINE_ATTACKS, rankEntry } = sliders;

/** `masks` as in Position: two words a piece code. */
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
  // Most squares have no slider on their lines at all; the table look-ups are for the others.
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
