/**
 * Attacks of the pieces that do not slide. Every table holds two words a square: `TABLE[2 * square]` is the low word,
 * the next one the high word.
 *
 * The hot modules of this room take tables with `import * as leapers` and `const { KNIGHT_ATTACKS } = leapers`: V8
 * folds a module's own constants into optimised code, but loads and checks a directly imported one at every use, which
 * cost perft a quarter of its speed (node 20).
 */
import { KNIGHT_JUMPS, QUEEN_DIRECTIONS } from './piece-steps.js';

const WHITE_PAWN_STEPS = [
  [-1, 1],
  [1, 1],
] as const;
const BLACK_PAWN_STEPS = [
  [-1, -1],
  [1, -1],
] as const;

export const KNIGHT_ATTACKS = new Int32Array(128);
export const KING_ATTACKS = new Int32Array(128);
/** White's pawns first, then Black's: index `2 * square + 128 * color`. */
export const PAWN_ATTACKS = new Int32Array(256);

function fill(table: Int32Array, offset: number, steps: readonly (readonly [number, number])[]): void {
  for (let square = 0; square < 64; square++) {
    for (const [fileStep, rankStep] of steps) {
      const file = (square & 7) + fileStep;
      const rank = (square >> 3) + rankStep;
      if (file < 0 || file > 7 || rank < 0 || rank > 7) continue;
      table[offset + 2 * square + (rank >> 2)] |= 1 << (rank * 8 + file);
    }
  }
}

fill(KNIGHT_ATTACKS, 0, KNIGHT_JUMPS);
fill(KING_ATTACKS, 0, QUEEN_DIRECTIONS);
fill(PAWN_ATTACKS, 0, WHITE_PAWN_STEPS);
fill(PAWN_ATTACKS, 128, BLACK_PAWN_STEPS);
