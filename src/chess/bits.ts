/**
 * A set of squares is a pair of int32 words: `low` holds squares 0..31 (ranks 1 to 4), `high` squares 32..63. BigInt
 * allocates and is a hundred times slower; doubles have no bit operations. Bit loops pick the highest bit, because
 * `Math.clz32` is one machine instruction and a lowest-bit scan needs three.
 */

/** Number of squares in the set. Source: chessprogramming wiki, "Population Count", SWAR; the words share the last steps. */
export function popCount64(low: number, high: number): number {
  let a = low - ((low >>> 1) & 0x55555555);
  let b = high - ((high >>> 1) & 0x55555555);
  a = (a & 0x33333333) + ((a >>> 2) & 0x33333333);
  b = (b & 0x33333333) + ((b >>> 2) & 0x33333333);
  a += b;
  a = (a & 0x0f0f0f0f) + ((a >>> 4) & 0x0f0f0f0f);
  return Math.imul(a, 0x01010101) >>> 24;
}
