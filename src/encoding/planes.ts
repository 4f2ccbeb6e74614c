/**
 * Packed planes: writing pieces into masks, and expanding mask x value into the floats that a network reads.
 */
import { BLACK, type Position } from '../chess/index.js';

/** Piece planes of one position: own P N B R Q K, then theirs. */
export const PIECE_PLANES = 12;

/** Turns a word of four ranks upside down; the other word of the mask must change places with it. */
function mirrorRanks(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

/**
 * Writes the 12 piece masks of a position.
 * @param pieces `Position.masks`: two words a piece code, white's from 1 (PAWN) to 6 (KING), black's 8 above
 * @param viewer the colour whose pieces come first and whose side is at the bottom
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

/** Turns masks upside down in place. */
export function mirrorMasks(masks: Uint32Array, offset: number, count: number): void {
  for (let i = offset; i < offset + 2 * count; i += 2) {
    const low = masks[i];
    masks[i] = mirrorRanks(masks[i + 1]);
    masks[i + 1] = mirrorRanks(low);
  }
}

/** Four planes of ones for the rights to castle: mover's king side and queen side, then the opponent's. */
export function writeCastlingPlanes(position: Position, masks: Uint32Array, offset: number): void {
  const own = 2 * position.sideToMove;
  for (let i = 0; i < 4; i++) if (position.castlingRooks[own ^ i] >= 0) setFullMask(masks, offset + 2 * i);
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
