/**
 * Priors of edges as 16-bit floats: 5 exponent and 11 mantissa bits, with the exponent shifted so that 1.0 has the largest
 * code. This is lc0's format (Edge::SetP): values below about 2^-31 become 0, all others keep 12 significant bits. Codes have
 * the same order as priors, so edges can be sorted by code.
 */
import { MAX_MOVES } from '../../chess/rules/index.js';

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

const EXPONENT_BASE = 0x30000000;
const ROUNDING = 1 << 11;

/** The nearest code; ties go up. @param prior a probability in [0, 1] */
export function encodePrior(prior: number): number {
  float[0] = prior;
  const rebased = bits[0] + ROUNDING - EXPONENT_BASE;
  return rebased < 0 ? 0 : rebased >> 12;
}

/** The probability of a code. As in lc0, code 0 gives 2^-31, not 0. */
export function decodePrior(code: number): number {
  bits[0] = (code << 12) | EXPONENT_BASE;
  return float[0];
}

const BUCKET_BITS = 5;

const keys = new Int32Array(MAX_MOVES);
const sorted = new Int32Array(MAX_MOVES);
const unsortedMoves = new Uint16Array(MAX_MOVES);
/** Position of the next key of each bucket. */
const places = new Int32Array(2 ** (BUCKET_BITS + 1) + 2);

/**
 * Sorts the edges of a leaf by prior, descending. Equal priors stay in move-generation order, so every thread gives the same
 * list. Code and index of an edge form one integer. The integers are distributed over up to 64 buckets of equal width, then
 * sorted by insertion, which finds them almost in order (32 edges: 0.4 µs; plain insertion 0.6, shell sort 1.0).
 * @param moves, priors `count` of each from `offset` on; sorted in place
 */
export function sortEdges(moves: Uint16Array, priors: Uint16Array, offset: number, count: number): void {
  let min = 0x7fffffff;
  let max = 0;
  for (let i = 0; i < count; i++) {
    const key = (priors[offset + i] << 8) | (255 - i);
    keys[i] = key;
    unsortedMoves[i] = moves[offset + i];
    if (key < min) min = key;
    if (key > max) max = key;
  }
  // max − min has at most BUCKET_BITS + 1 bits after the shift.
  const shift = Math.max(0, 31 - BUCKET_BITS - Math.clz32(max - min));
  const buckets = ((max - min) >> shift) + 1;
  for (let bucket = 0; bucket <= buckets; bucket++) places[bucket] = 0;
  for (let i = 0; i < count; i++) places[((max - keys[i]) >> shift) + 1]++;
  for (let bucket = 1; bucket < buckets; bucket++) places[bucket] += places[bucket - 1];
  for (let i = 0; i < count; i++) {
    const key = keys[i];
    sorted[places[(max - key) >> shift]++] = key;
  }
  for (let i = 1; i < count; i++) {
    const key = sorted[i];
    let j = i;
    for (; j > 0 && sorted[j - 1] < key; j--) sorted[j] = sorted[j - 1];
    sorted[j] = key;
  }
  for (let i = 0; i < count; i++) {
    const key = sorted[i];
    priors[offset + i] = key >> 8;
    moves[offset + i] = unsortedMoves[255 - (key & 255)];
  }
}
