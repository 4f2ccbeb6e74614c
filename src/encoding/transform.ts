/**
 * The board symmetries of lc0's canonical formats, for squares and for masks of two 32-bit words. A transform is a set
 * of three flags, applied in this order: flip files, mirror ranks, transpose.
 *
 * Transpose reflects about the a8-h1 diagonal: (rank, file) → (7 − file, 7 − rank). lc0's encoder does that to planes,
 * and from 2020 on it did the same to moves. Since a rewrite in March 2025 (#2126) it turns the squares of moves by 180
 * degrees instead, which no longer fits its planes. Here squares and planes share one table, and both are reflected.
 */
export const FLIP_FILES = 1;
export const MIRROR_RANKS = 2;
export const TRANSPOSE = 4;

function computeTransform(square: number, transform: number): number {
  let rank = square >> 3;
  let file = square & 7;
  if (transform & FLIP_FILES) file = 7 - file;
  if (transform & MIRROR_RANKS) rank = 7 - rank;
  if (transform & TRANSPOSE) [rank, file] = [7 - file, 7 - rank];
  return rank * 8 + file;
}

/** `SQUARE_TRANSFORMS[transform * 64 + square]`. */
export const SQUARE_TRANSFORMS = Uint8Array.from({ length: 8 * 64 }, (_, i) => computeTransform(i & 63, i >> 6));

export function transformSquare(square: number, transform: number): number {
  return SQUARE_TRANSFORMS[transform * 64 + square];
}

/** The transform that undoes `transform`. Transposing turns a flip of files into a flip of ranks. */
export function invertTransform(transform: number): number {
  if ((transform & TRANSPOSE) === 0) return transform;
  const flip = transform & MIRROR_RANKS ? FLIP_FILES : 0;
  return TRANSPOSE | flip | (transform & FLIP_FILES ? MIRROR_RANKS : 0);
}

/** Transforms `count` masks from word `offset` on, in place. */
export function transformMasks(masks: Uint32Array, offset: number, count: number, transform: number): void {
  const table = transform * 64;
  for (let i = offset; i < offset + 2 * count; i += 2) {
    const low = masks[i];
    const high = masks[i + 1];
    // Empty and full masks stay the same under every symmetry.
    if ((low === 0 && high === 0) || (low === 0xffffffff && high === 0xffffffff)) continue;
    masks[i] = 0;
    masks[i + 1] = 0;
    for (let word = 0; word < 2; word++) {
      let bits = word === 0 ? low : high;
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits & -bits);
        bits &= bits - 1;
        const square = SQUARE_TRANSFORMS[table + word * 32 + bit];
        masks[i + (square >> 5)] |= 1 << (square & 31);
      }
    }
  }
}
