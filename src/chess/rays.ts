/**
 * Lines on the board, for pins, checks and castling. BETWEEN and LINES hold a set for each pair of squares: two words
 * at index `pairEntry(a, b)`, empty if no rank, file or diagonal joins them.
 */

/** The squares between two squares, without the two. */
export const BETWEEN = new Int32Array(64 * 64 * 2);
/** The whole line through two squares from edge to edge, with the two. */
export const LINES = new Int32Array(64 * 64 * 2);
/** Squares that a rook attacks on an empty board: two words at `2 * square`; BISHOP_RAYS likewise for a bishop. */
export const ROOK_RAYS = new Int32Array(128);
export const BISHOP_RAYS = new Int32Array(128);

/** Index of a pair of squares in BETWEEN and LINES. */
export function pairEntry(a: number, b: number): number {
  return ((a << 6) | b) << 1;
}

const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
  [1, 1],
  [-1, 1],
  [-1, -1],
  [1, -1],
] as const;

/** The squares that follow `square` in a direction up to the edge. */
function squaresFrom(square: number, fileStep: number, rankStep: number): number[] {
  const squares: number[] = [];
  let file = (square & 7) + fileStep;
  let rank = (square >> 3) + rankStep;
  while (file >= 0 && file < 8 && rank >= 0 && rank < 8) {
    squares.push(rank * 8 + file);
    file += fileStep;
    rank += rankStep;
  }
  return squares;
}

function add(table: Int32Array, entry: number, square: number): void {
  table[entry + (square >> 5)] |= 1 << square;
}

for (let square = 0; square < 64; square++) {
  for (const [fileStep, rankStep] of DIRECTIONS) {
    const rays = fileStep === 0 || rankStep === 0 ? ROOK_RAYS : BISHOP_RAYS;
    const ahead = squaresFrom(square, fileStep, rankStep);
    const line = [...squaresFrom(square, -fileStep, -rankStep), square, ...ahead];
    ahead.forEach((other, distance) => {
      add(rays, 2 * square, other);
      for (const inside of ahead.slice(0, distance)) add(BETWEEN, pairEntry(square, other), inside);
      for (const on of line) add(LINES, pairEntry(square, other), on);
    });
  }
}
