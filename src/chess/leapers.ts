/**
 * Attacks of the pieces that do not slide: knights, kings and pawns. Every table holds two words a square: the low word
 * (squares 0..31) at `2 * square`, the high word after it.
 *
 * Hot modules of this room write `import * as leapers` and `const { KNIGHT_ATTACKS } = leapers` to use a table. V8
 * folds a module's own constants into optimised code but loads and checks a directly imported one at every use, which
 * cost perft a quarter of its speed (Node 20).
 */

/**
 * Steps of the queen as [files to the right, ranks ahead], clockwise from straight ahead; the king's steps too.
 * AlphaZero's and lc0's convolutional policies number their planes in this order, and by KNIGHT_JUMPS.
 */
export const QUEEN_DIRECTIONS = [
  [0, 1],
  [1, 1],
  [1, 0],
  [1, -1],
  [0, -1],
  [-1, -1],
  [-1, 0],
  [-1, 1],
] as const;
/** Steps of the knight, clockwise from two ahead, one right. */
export const KNIGHT_JUMPS = [
  [1, 2],
  [2, 1],
  [2, -1],
  [1, -2],
  [-1, -2],
  [-2, -1],
  [-2, 1],
  [-1, 2],
] as const;

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
/** Attacks of White's pawns, then of Black's: index `2 * square + 128 * color`. */
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
