/**
 * A seed for the n-th game of a run: games must not share random streams, and game n must be the same whichever worker
 * plays it. The mixing is murmur3's finalizer (Appleby), which changes half of the bits for any change of the input.
 */
export function mixSeeds(seed: number, n: number): number {
  let h = Math.imul(seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca77);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
