/**
 * Maps the outputs of convolutional and attention policy heads to lc0's 1858 moves, and the positional map of PE_MAP
 * embeddings. All of it is computed from the policy encodings and from how a queen and a knight move on an empty board, so
 * no table is stored. Squares are 8·rank + file from a1 = 0, seen from the mover's side.
 */
import { BISHOP, QUEEN, ROOK } from '../../chess/rules/index.js';
import { getAlphazeroKind, isQueenOrKnightPath, LC0_MOVES } from '../encoding/index.js';

/** Planes of the convolutional head that are used. The head has 80, for tiling on GPUs. */
export const CONVOLUTION_POLICY_PLANES = 73;
/** 64×64 from-to logits, then 8×24 promotions: 24·fromFile + 3·toFile + {queen 0, rook 1, bishop 2}. */
export const ATTENTION_POLICY_OUTPUTS = 64 * 64 + 8 * 24;

const ATTENTION_PROMOTIONS = [QUEEN, ROOK, BISHOP];

/** Planes 0–63 are the kinds of AlphaZero's policy; 64–72: to the left, straight, to the right, each with the promotions in this order. */
const CONVOLUTION_PROMOTIONS = [ROOK, BISHOP, QUEEN];
const FIRST_PROMOTION_PLANE = 64;

/** Width of a row of the positional map. */
export const CHANNELS_OF_POSITION_MAP = 64;

/** 1 if a queen or knight on `row` could go to `column`, −1 on the diagonal, else 0: [64][64]. */
export function computePositionMap(): Float32Array {
  const map = new Float32Array(64 * 64);
  for (let from = 0; from < 64; from++) {
    for (let to = 0; to < 64; to++) map[from * 64 + to] = from === to ? -1 : isQueenOrKnightPath(from, to) ? 1 : 0;
  }
  return map;
}

/** For each of the 1858 moves, the index of its logit among the ATTENTION_POLICY_OUTPUTS. */
export function computeAttentionPolicyMap(): Int32Array {
  return Int32Array.from(LC0_MOVES, ({ from, to, promotion }) => {
    if (promotion === 0) return from * 64 + to;
    return 64 * 64 + 24 * (from & 7) + 3 * (to & 7) + ATTENTION_PROMOTIONS.indexOf(promotion);
  });
}

/** For each of the 1858 moves, the index of its logit in the flattened [plane][square] convolutional head. */
export function computeConvolutionPolicyMap(): Int32Array {
  return Int32Array.from(LC0_MOVES, ({ from, to, promotion }) => {
    if (promotion === 0) return getAlphazeroKind(from, to) * 64 + from;
    const step = (to & 7) - (from & 7);
    return (FIRST_PROMOTION_PLANE + 3 * (step + 1) + CONVOLUTION_PROMOTIONS.indexOf(promotion)) * 64 + from;
  });
}
