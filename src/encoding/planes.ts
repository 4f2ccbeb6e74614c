/**
 * Packed planes: writing pieces into masks, and expanding mask x value into the floats that a network reads.
 */
import { BLACK } from '../chess/index.js';

/** Piece planes of one position: own P N B R Q K, then theirs. */
export const PIECE_PLANES = 12;

/** `PIECE_WORD[color * 16 + piece code]`: the first mask word of the piece's plane as `color` sees it. */
const PIECE_WORD = Uint8Array.from({ length: 32 }, (_, i) => {
  const type = i & 7;
  const isTheirs = ((i >> 3) & 1) !== i >> 4;
  return type === 0 ? 0 : 2 * (type - 1 + (isTheirs ? 6 : 0));
});

/**
 * Adds all pieces to 12 masks that were cleared before.
 * @param board 64 piece codes, a1 first
 * @param viewer the colour whose pieces come first and whose side is at the bottom
 */
export function writePieceMasks(board: Int8Array, viewer: 0 | 1, masks: Uint32Array, offset: number): void {
  const words = viewer << 4;
  const flip = viewer === BLACK ? 56 : 0;
  for (let square = 0; square < 64; square++) {
    const piece = board[square];
    if (piece === 0) continue;
    const seen = square ^ flip;
    masks[offset + PIECE_WORD[words + piece] + (seen >> 5)] |= 1 << (seen & 31);
  }
}

export function setFullMask(masks: Uint32Array, index: number): void {
  masks[index] = 0xffffffff;
  masks[index + 1] = 0xffffffff;
}

export function setSquare(masks: Uint32Array, index: number, square: number): void {
  masks[index + (square >> 5)] |= 1 << (square & 31);
}

/**
 * Mask x value -> `out[plane * 64 + square]`, squares a1..h8 rank by rank, which is [planes][8][8] with rank 1 first.
 */
export function expandPlanes(
  masks: Uint32Array,
  maskOffset: number,
  values: Float32Array,
  valueOffset: number,
  planes: number,
  out: Float32Array,
  outOffset: number,
): void {
  out.fill(0, outOffset, outOffset + planes * 64);
  for (let plane = 0; plane < planes; plane++) {
    const low = masks[maskOffset + 2 * plane];
    const high = masks[maskOffset + 2 * plane + 1];
    if (low === 0 && high === 0) continue;
    const value = values[valueOffset + plane];
    const start = outOffset + plane * 64;
    if (low === 0xffffffff && high === 0xffffffff) {
      if (value !== 0) out.fill(value, start, start + 64);
      continue;
    }
    let bits: number = low;
    while (bits !== 0) {
      const square = 31 - Math.clz32(bits & -bits);
      out[start + square] = value;
      bits &= bits - 1;
    }
    bits = high;
    while (bits !== 0) {
      const square = 31 - Math.clz32(bits & -bits);
      out[start + 32 + square] = value;
      bits &= bits - 1;
    }
  }
}
