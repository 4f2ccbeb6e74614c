/**
 * Squares as small integers, a1 = 0, b1 = 1 … h8 = 63, and their names.
 */
export type Square = number & { readonly __square: unique symbol };

export const NO_SQUARE = -1;

export function createSquare(file: number, rank: number): Square {
  return ((rank << 3) | file) as Square;
}

/** "e4" → 28; NO_SQUARE when the text is not the name of a square. */
export function parseSquare(text: string): Square | typeof NO_SQUARE {
  if (!/^[a-h][1-8]$/.test(text)) return NO_SQUARE;
  return createSquare(text.charCodeAt(0) - 97, text.charCodeAt(1) - 49);
}

/** 28 → "e4". */
export function formatSquare(square: number): string {
  return 'abcdefgh'[square & 7] + String((square >> 3) + 1);
}
