/**
 * `from-to-4096`: from * 64 + to, seen from the mover's side. It cannot say what a pawn becomes: all promotions of a
 * pawn to a square share an index, and the index means the queen.
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
