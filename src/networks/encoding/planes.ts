/**
 * Packed planes and the symmetries of the board: writes pieces into 64-bit masks and expands mask × value into the floats that a network reads. A mask
 * is two words: squares a1..h4, then a5..h8.
 */
import { BLACK, type Position } from '../../chess/rules/index.js';

/** Number of piece planes of one position: own P N B R Q K, then theirs. */
export const PIECE_PLANES = 12;

/** Mirrors a word of four ranks. To mirror a mask, mirror both words and swap them. */
function mirrorRanks(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

/**
 * Writes the 12 piece masks of a position from word `offset` on.
 * @param pieces Position.masks: two words a piece code, White's 1 (PAWN) to 6 (KING), Black's 9 to 14
 * @param viewer colour whose pieces come first and whose side is at the bottom
 */
export function writePieceMasks(pieces: Int32Array, viewer: 0 | 1, masks: Uint32Array, offset: number): void {
  const own = 2 * (1 + 8 * viewer);
  const theirs = 18 - 16 * viewer;
  if (viewer === BLACK) {
    for (let i = 0; i < 12; i += 2) {
      masks[offset + i] = mirrorRanks(pieces[own + i + 1]);
      masks[offset + i + 1] = mirrorRanks(pieces[own + i]);
      masks[offset + 12 + i] = mirrorRanks(pieces[theirs + i + 1]);
      masks[offset + 13 + i] = mirrorRanks(pieces[theirs + i]);
    }
    return;
  }
  for (let i = 0; i < 12; i++) {
    masks[offset + i] = pieces[own + i];
    masks[offset + 12 + i] = pieces[theirs + i];
  }
}

/** Mirrors the ranks of `count` masks from word `offset` on, in place. */
export function mirrorMasks(masks: Uint32Array, offset: number, count: number): void {
  for (let i = offset; i < offset + 2 * count; i += 2) {
    const low = masks[i];
    masks[i] = mirrorRanks(masks[i + 1]);
    masks[i + 1] = mirrorRanks(low);
  }
}

/** Writes four planes, each full if the right to castle exists: the mover's king side, queen side, the opponent's. */
export function writeCastlingPlanes(position: Position, masks: Uint32Array, offset: number): void {
  const own = 2 * position.sideToMove;
  for (let i = 0; i < 4; i++) if (position.castlingRooks[own ^ i] >= 0) setFullMask(masks, offset + 2 * i);
}

/** Sets all squares of the mask at word `index`. */
export function setFullMask(masks: Uint32Array, index: number): void {
  masks[index] = 0xffffffff;
  masks[index + 1] = 0xffffffff;
}

/** Adds a square to the mask at word `index`. */
export function setSquare(masks: Uint32Array, index: number, square: number): void {
  masks[index + (square >> 5)] |= 1 << (square & 31);
}

/**
 * Writes mask × value of each plane to `out[outOffset + plane * 64 + square]`, squares in the order a1, b1 … h8: an
 * array [planes][8 ranks][8 files] with rank 1 first.
 * @param masks two words a plane from `maskOffset` on
 * @param values one float a plane from `valueOffset` on
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
