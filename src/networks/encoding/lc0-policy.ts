/**
 * `lc0-1858`: first every move of a queen or knight over an empty board, ordered by from and to square, then the 66
 * promotions to queen, rook and bishop from the seventh rank. A promotion to a knight is the plain pawn move.
 * Source: lc0, neural/encoder.cc (kMoveStrs); the loops below produce its list.
 */

import { BISHOP, BLACK, KNIGHT, type Move, type Position, QUEEN, ROOK } from '../../chess/rules/index.js';
import { createPolicyEncoding, NO_POLICY_INDEX, type PolicyIndex } from './encoding.js';
import { SQUARE_TRANSFORMS } from './planes.js';

export const LC0_POLICY_SIZE = 1858;

/** Whether a queen or a knight travels so over an empty board. */
export function isQueenOrKnightPath(from: number, to: number): boolean {
  const ranks = Math.abs((from >> 3) - (to >> 3));
  const files = Math.abs((from & 7) - (to & 7));
  if (ranks === 0 && files === 0) return false;
  return ranks === 0 || files === 0 || ranks === files || (ranks * files === 2 && ranks + files === 3);
}

/** A move of lc0's list. `promotion` is the piece type that the pawn becomes, 0 for a knight and for plain moves. */
export interface Lc0Move {
  readonly from: number;
  readonly to: number;
  readonly promotion: number;
}

/** The moves in the order of their indices, seen from the mover's side. */
export const LC0_MOVES: readonly Lc0Move[] = listMoves();

function listMoves(): Lc0Move[] {
  const moves: Lc0Move[] = [];
  for (let from = 0; from < 64; from++) {
    for (let to = 0; to < 64; to++) {
      if (isQueenOrKnightPath(from, to)) moves.push({ from, to, promotion: 0 });
    }
  }
  for (let from = 48; from < 56; from++) {
    for (let to = Math.max(56, from + 7); to <= Math.min(63, from + 9); to++) {
      for (const promotion of [QUEEN, ROOK, BISHOP]) moves.push({ from, to, promotion });
    }
  }
  return moves;
}

/** Policy index by `promotion * 4096 + from * 64 + to`. */
const MOVE_INDICES = new Uint16Array((QUEEN + 1) * 4096).fill(NO_POLICY_INDEX);
for (const [index, { from, to, promotion }] of LC0_MOVES.entries()) {
  MOVE_INDICES[promotion * 4096 + from * 64 + to] = index;
  if (promotion === 0) MOVE_INDICES[KNIGHT * 4096 + from * 64 + to] = index;
}

function findLc0Index(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  let from = (move & 63) ^ flip;
  let to = ((move >> 6) & 63) ^ flip;
  if (transform !== 0) {
    from = SQUARE_TRANSFORMS[transform * 64 + from];
    to = SQUARE_TRANSFORMS[transform * 64 + to];
  }
  return MOVE_INDICES[((move >> 12) & 7) * 4096 + from * 64 + to] as PolicyIndex;
}

export const lc0Policy = createPolicyEncoding('lc0-1858', LC0_POLICY_SIZE, true, findLc0Index);
