/**
 * `alphazero-4672`: index = from square * 73 + kind, seen from the mover's side.
 *
 * | kind | move |
 * |---|---|
 * | 0..55 | as a queen: direction (clockwise from straight ahead) * 7 + distance − 1; promotion to a queen included |
 * | 56..63 | as a knight: clockwise from two ahead, one right |
 * | 64..72 | underpromotion: piece (knight, bishop, rook) * 3 + direction (capture left, ahead, capture right) |
 *
 * Sources: Silver et al. 2017 (AlphaZero); NeuralMate2's document.
 */

import {
  BISHOP,
  BLACK,
  KNIGHT,
  KNIGHT_JUMPS,
  type Move,
  type Position,
  QUEEN_DIRECTIONS,
  ROOK,
} from '../../chess/rules/index.js';
import { createPolicyEncoding, NO_POLICY_INDEX, type PolicyIndex } from './encoding.js';
import { transformSquare } from './planes.js';

const KINDS = 73;
const KNIGHT_KIND = 56;
const UNDERPROMOTION_KIND = 64;

/** Policy index by `from * 64 + to`; NO_POLICY_INDEX for pairs that no piece can travel. */
const ALPHAZERO_INDICES = new Uint16Array(4096).fill(NO_POLICY_INDEX);

function addPath(from: number, fileStep: number, rankStep: number, kind: number): void {
  const file = (from & 7) + fileStep;
  const rank = (from >> 3) + rankStep;
  if (file < 0 || file > 7 || rank < 0 || rank > 7) return;
  ALPHAZERO_INDICES[from * 64 + rank * 8 + file] = from * KINDS + kind;
}

for (let from = 0; from < 64; from++) {
  QUEEN_DIRECTIONS.forEach(([fileStep, rankStep], direction) => {
    for (let n = 1; n <= 7; n++) addPath(from, n * fileStep, n * rankStep, direction * 7 + n - 1);
  });
  KNIGHT_JUMPS.forEach(([fileStep, rankStep], i) => {
    addPath(from, fileStep, rankStep, KNIGHT_KIND + i);
  });
}

/** The kind of a move that a queen or a knight could make on an empty board. */
export function getAlphazeroKind(from: number, to: number): number {
  return ALPHAZERO_INDICES[from * 64 + to] - from * KINDS;
}

function findAlphazeroIndex(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  const from = transformSquare((move & 63) ^ flip, transform);
  const to = transformSquare(((move >> 6) & 63) ^ flip, transform);
  const promotion = (move >> 12) & 7;
  if (promotion === KNIGHT || promotion === BISHOP || promotion === ROOK) {
    const direction = (to & 7) - (from & 7) + 1;
    return (from * KINDS + UNDERPROMOTION_KIND + (promotion - KNIGHT) * 3 + direction) as PolicyIndex;
  }
  return ALPHAZERO_INDICES[from * 64 + to] as PolicyIndex;
}

export const alphazeroPolicy = createPolicyEncoding('alphazero-4672', 64 * KINDS, true, findAlphazeroIndex);
