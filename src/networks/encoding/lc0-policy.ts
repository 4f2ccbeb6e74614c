/**
 * `lc0-1858`: first every move of a queen or knight over an empty board, ordered by from and to square, then the 66
 * promotions to queen, rook and bishop from the seventh rank. A promotion to a knight is the plain pawn move.
 * Source: lc0, neural/encoder.cc (kMoveStrs); the loops below produce its list.
 */

import { BISHOP, BLACK, type Move, type Position, QUEEN, ROOK } from '../../chess/rules/index.js';
import { createPolicyEncoding, NO_POLICY_INDEX, type PolicyIndex } from './encoding.js';
import { SQUARE_TRANSFORMS } from './planes.js';

export const LC0_POLICY_SIZE = 1858;

/** lc0's order of promotions, groups 1 to 3; group 0 holds plain moves and promotions to a knight. */
const PROMOTION_PIECES = [QUEEN, ROOK, BISHOP];
const PROMOTION_LETTERS = 'qrb';

/** Policy index by path, `group * 4096 + from * 64 + to`; INDEX_PATHS holds the path by index. */
const PATH_INDICES = new Uint16Array(4 * 4096).fill(NO_POLICY_INDEX);
const INDEX_PATHS = new Uint16Array(LC0_POLICY_SIZE);
/** Group by promotion piece type. */
const PROMOTION_GROUP = new Uint8Array(8);

/** Whether a queen or a knight travels so over an empty board. */
export function isQueenOrKnightPath(from: number, to: number): boolean {
  const ranks = Math.abs((from >> 3) - (to >> 3));
  const files = Math.abs((from & 7) - (to & 7));
  if (ranks === 0 && files === 0) return false;
  return ranks === 0 || files === 0 || ranks === files || (ranks * files === 2 && ranks + files === 3);
}

function numberPaths(): void {
  let index = 0;
  const push = (path: number): void => {
    PATH_INDICES[path] = index;
    INDEX_PATHS[index] = path;
    index++;
  };
  for (let from = 0; from < 64; from++) {
    for (let to = 0; to < 64; to++) {
      if (isQueenOrKnightPath(from, to)) push(from * 64 + to);
    }
  }
  for (let fromFile = 0; fromFile < 8; fromFile++) {
    for (let toFile = Math.max(0, fromFile - 1); toFile <= Math.min(7, fromFile + 1); toFile++) {
      for (let group = 1; group <= 3; group++) push(group * 4096 + (48 + fromFile) * 64 + 56 + toFile);
    }
  }
  PROMOTION_PIECES.forEach((piece, i) => {
    PROMOTION_GROUP[piece] = i + 1;
  });
}
numberPaths();

function findLc0Index(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  let from = (move & 63) ^ flip;
  let to = ((move >> 6) & 63) ^ flip;
  if (transform !== 0) {
    from = SQUARE_TRANSFORMS[transform * 64 + from];
    to = SQUARE_TRANSFORMS[transform * 64 + to];
  }
  return PATH_INDICES[PROMOTION_GROUP[(move >> 12) & 7] * 4096 + from * 64 + to] as PolicyIndex;
}

function squareName(square: number): string {
  return 'abcdefgh'[square & 7] + String((square >> 3) + 1);
}

/** The move of an index as lc0 lists it, seen from the mover's side: `e2e4`, `a7b8q`, `e1h1` for castling. */
export function formatLc0PolicyIndex(index: PolicyIndex): string {
  const path = INDEX_PATHS[index];
  const group = path >> 12;
  return squareName((path >> 6) & 63) + squareName(path & 63) + (group === 0 ? '' : PROMOTION_LETTERS[group - 1]);
}

export const lc0Policy = createPolicyEncoding('lc0-1858', LC0_POLICY_SIZE, true, findLc0Index);
