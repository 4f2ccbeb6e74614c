/**
 * Squares and sets of squares. A square is a small integer: a1 = 0, b1 = 1 … h8 = 63.
 *
 * A set of squares is a pair of int32 words: `low` holds squares 0..31 (ranks 1 to 4), `high` squares 32..63, one bit
 * each. A BigInt would hold both words but allocates and is a hundred times slower; a double has no bit operations.
 * Loops over a set take the highest bit first, because `Math.clz32` is one machine instruction and finding the lowest
 * bit takes three.
 */
export type Square = number & { readonly __square: unique symbol };

export const NO_SQUARE = -1;

export function createSquare(file: number, rank: number): Square {
  return ((rank << 3) | file) as Square;
}

/** "e4" → 28; NO_SQUARE if the text does not name a square. */
export function parseSquare(text: string): Square | typeof NO_SQUARE {
  if (!/^[a-h][1-8]$/.test(text)) return NO_SQUARE;
  return createSquare(text.charCodeAt(0) - 97, text.charCodeAt(1) - 49);
}

/** 28 → "e4". */
export function formatSquare(square: number): string {
  return 'abcdefgh'[square & 7] + String((square >> 3) + 1);
}

/**
 * Number of squares in a set. Source: chessprogramming wiki, "Population Count" (SWAR); the two words share the last
 * steps.
 */
export function popCount64(low: number, high: number): number {
  let a = low - ((low >>> 1) & 0x55555555);
  let b = high - ((high >>> 1) & 0x55555555);
  a = (a & 0x33333333) + ((a >>> 2) & 0x33333333);
  b = (b & 0x33333333) + ((b >>> 2) & 0x33333333);
  a += b;
  a = (a & 0x0f0f0f0f) + ((a >>> 4) & 0x0f0f0f0f);
  return Math.imul(a, 0x01010101) >>> 24;
}
