/**
 * `from-to-4096`: index = from square * 64 + to square, seen from the mover's side. It cannot say what a pawn becomes:
 * the promotions of a pawn on one square share an index, which is read as the promotion to a queen.
 */
import { BLACK, type Move, type Position } from '../chess/index.js';
import { findMoveOfIndex, type PolicyEncoding, type PolicyIndex } from './policy-encoding.js';

function moveToIndex(position: Position, move: Move): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  return ((((move & 63) ^ flip) << 6) | (((move >> 6) & 63) ^ flip)) as PolicyIndex;
}

export const fromToPolicy: PolicyEncoding = {
  name: 'from-to-4096',
  size: 4096,
  injective: false,
  moveToIndex,
  indexToMove: (position, index, transform) => findMoveOfIndex({ moveToIndex }, position, index, transform),
};
