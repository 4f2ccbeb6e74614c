/**
 * Sorts the edges of a leaf by prior, descending. Equal priors stay in move-generation order, so that every thread
 * gives the same list. A prior's code and its index fit one integer, and those are sorted by shell sort: lists are short
 * and all keys differ, so any sort gives the same result.
 */
const MAX_MOVES = 256;
const GAPS = [57, 23, 10, 4, 1];
const keys = new Int32Array(MAX_MOVES);
const unsorted = new Uint16Array(MAX_MOVES);

/** @param moves, priors `count` of each from `offset` on; sorted in place */
export function sortEdges(moves: Uint16Array, priors: Uint16Array, offset: number, count: number): void {
  for (let i = 0; i < count; i++) {
    keys[i] = (priors[offset + i] << 8) | (255 - i);
    unsorted[i] = moves[offset + i];
  }
  for (let g = 0; g < GAPS.length; g++) {
    const gap = GAPS[g];
    for (let i = gap; i < count; i++) {
      const key = keys[i];
      let j = i;
      while (j >= gap && keys[j - gap] < key) {
        keys[j] = keys[j - gap];
        j -= gap;
      }
      keys[j] = key;
    }
  }
  for (let i = 0; i < count; i++) {
    const key = keys[i];
    priors[offset + i] = key >> 8;
    moves[offset + i] = unsorted[255 - (key & 255)];
  }
}
