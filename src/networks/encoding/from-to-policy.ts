/**
 * `from-to-4096`: index = from square * 64 + to square, seen from the mover's side. It cannot say what a pawn becomes: the
 * promotions of a pawn on one square share an index, which is read as the promotion to a queen.
 */

import { BLACK, type Move, type Position } from '../../chess/rules/index.js';
import { createPolicyEncoding, type PolicyIndex } from './encoding.js';
import { transformSquare } from './planes.js';

function computeFromToIndex(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  const from = transformSquare((move & 63) ^ flip, transform);
  return ((from << 6) | transformSquare(((move >> 6) & 63) ^ flip, transform)) as PolicyIndex;
}

export const fromToPolicy = createPolicyEncoding('from-to-4096', 4096, false, computeFromToIndex);
