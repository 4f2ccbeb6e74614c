/**
 * Maps the outputs of convolutional and attention policy heads to lc0's 1858 moves, and the positional map of PE_MAP
 * embeddings. All of it is computed from how a queen and a knight move on an empty board, so no table is stored.
 * Squares are 8·rank + file from a1 = 0, seen from the mover's side.
 */
import { KNIGHT_JUMPS, QUEEN_DIRECTIONS } from '../../chess/rules/index.js';
import { isQueenOrKnightPath, LC0_POLICY_SIZE } from '../encoding/index.js';

/** Planes of the convolutional head that are used. The head has 80, for tiling on GPUs. */
export const CONVOLUTION_POLICY_PLANES = 73;
/** 64×64 from-to logits, then 8×24 promotions: 24·fromFile + 3·toFile + {queen 0, rook 1, bishop 2}. */
export const ATTENTION_POLICY_OUTPUTS = 64 * 64 + 8 * 24;

/** Planes 64–72: to the left, straight, to the right; each with promotion to rook, bishop, queen, in this order. */
const PROMOTION_PLANE_PIECES = [1, 2, 0] as const;

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
  const map = new Int32Array(LC0_POLICY_SIZE);
  let index = 0;
  for (let fromTo = 0; fromTo < 64 * 64; fromTo++) {
    if (isQueenOrKnightPath(fromTo >> 6, fromTo & 63)) map[index++] = fromTo;
  }
  for (let fromFile = 0; fromFile < 8; fromFile++) {
    for (let toFile = Math.max(0, fromFile - 1); toFile <= Math.min(7, fromFile + 1); toFile++) {
      for (let piece = 0; piece < 3; piece++) map[index++] = 64 * 64 + 24 * fromFile + 3 * toFile + piece;
    }
  }
  return map;
}

/** For each of the 1858 moves, the index of its logit in the flattened [plane][square] convolutional head. */
export function computeConvolutionPolicyMap(): Int32Array {
  const attention = computeAttentionPolicyMap();
  const moveOfAttention = new Map<number, number>();
  for (let move = 0; move < LC0_POLICY_SIZE; move++) moveOfAttention.set(attention[move], move);
  const map = new Int32Array(LC0_POLICY_SIZE);
  const place = (attentionIndex: number, plane: number, from: number): void => {
    const move = moveOfAttention.get(attentionIndex);
    if (move === undefined) throw new Error(`no move has attention policy index ${attentionIndex}`);
    map[move] = plane * 64 + from;
  };
  for (let from = 0; from < 64; from++) {
    const file = from & 7;
    const rank = from >> 3;
    const placeStep = (plane: number, files: number, ranks: number): void => {
      const toFile = file + files;
      const toRank = rank + ranks;
      if (toFile < 0 || toFile > 7 || toRank < 0 || toRank > 7) return;
      place(from * 64 + toRank * 8 + toFile, plane, from);
    };
    // Planes 0–55: eight directions, seven distances each; 56–63: knight jumps.
    for (let direction = 0; direction < 8; direction++) {
      const [files, ranks] = QUEEN_DIRECTIONS[direction];
      for (let distance = 1; distance <= 7; distance++) {
        placeStep(direction * 7 + distance - 1, files * distance, ranks * distance);
      }
    }
    for (let jump = 0; jump < 8; jump++) placeStep(56 + jump, KNIGHT_JUMPS[jump][0], KNIGHT_JUMPS[jump][1]);
    if (rank !== 6) continue;
    for (let side = -1; side <= 1; side++) {
      const toFile = file + side;
      if (toFile < 0 || toFile > 7) continue;
      for (let slot = 0; slot < 3; slot++) {
        const attentionIndex = 64 * 64 + 24 * file + 3 * toFile + PROMOTION_PLANE_PIECES[slot];
        place(attentionIndex, 64 + (side + 1) * 3 + slot, from);
      }
    }
  }
  return map;
}
