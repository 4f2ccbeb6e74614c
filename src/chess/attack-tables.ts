/**
 * Attacks of pieces by table, and the lines between squares.
 *
 * Hot modules of this room write `import * as tables` and `const { KNIGHT_ATTACKS } = tables` to use a table. V8
 * folds a module's own constants into optimised code but loads and checks a directly imported one at every use, which
 * cost perft a quarter of its speed (Node 20).
 */

// Pieces that do not slide: knights, kings and pawns. Every table holds two words a square: the low word (squares 0..31)
// at `2 * square`, the high word after it.

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

// Lines on the board, for pins, checks and castling. BETWEEN and LINES hold a set for each pair of squares: two words
// at index `pairEntry(a, b)`, empty if no rank, file or diagonal joins them.

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

// Attacks of sliding pieces, one line (rank, file, diagonal or antidiagonal) at a time. Which of the six inner squares
// of a line are occupied makes a 6-bit number, and that number picks the attacks from a table. Source: chessprogramming
// wiki, "Kindergarten Bitboards". With 32-bit words this beats magic multiplication: as many loads, no search for magic
// numbers at the start, and 128 kB of tables instead of 900.
//
// A bishop attacks `LINE_ATTACKS[d] | LINE_ATTACKS[a]` (low words; the high words follow) with d = diagonalEntry(…) and
// a = antidiagonalEntry(…). A rook does so by rankEntry and fileEntry, a queen by all four.

/**
 * Two words an entry. Entries are ordered by line (rank, file, diagonal, antidiagonal), square, occupied inner squares.
 */
export const LINE_ATTACKS = new Int32Array(4 * 64 * 64 * 2);

/** All squares of a square's diagonal (antidiagonal), with the square itself; two words a square. */
const DIAGONALS = new Int32Array(128);
const ANTIDIAGONALS = new Int32Array(128);

const LINE_STEPS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
] as const;

const FILE_LINE = 1 << 12;
const DIAGONAL_LINE = 2 << 12;
const ANTIDIAGONAL_LINE = 3 << 12;

/**
 * Index in LINE_ATTACKS for the rank of `square`; the three functions below it likewise for the other lines.
 * @param low,high the occupied squares
 */
export function rankEntry(square: number, low: number, high: number): number {
  const word = square < 32 ? low : high;
  return ((square << 6) | ((word >>> ((square & 24) + 1)) & 63)) << 1;
}

export function fileEntry(square: number, low: number, high: number): number {
  const file = square & 7;
  // Now ranks 1 to 4 are at bits 0, 8, 16, 24 and ranks 5 to 8 at 4, 12, 20, 28; the product lines them up in the top
  // byte.
  const gathered = ((low >>> file) & 0x01010101) | (((high >>> file) & 0x01010101) << 4);
  return (FILE_LINE | (square << 6) | ((Math.imul(gathered, 0x01020408) >>> 25) & 63)) << 1;
}

export function diagonalEntry(square: number, low: number, high: number): number {
  // A diagonal has one square on each file, so the two words do not overlap and the sum of the four rows has no carry.
  const gathered = (low & DIAGONALS[2 * square]) | (high & DIAGONALS[2 * square + 1]);
  return (DIAGONAL_LINE | (square << 6) | ((Math.imul(gathered, 0x01010101) >>> 25) & 63)) << 1;
}

export function antidiagonalEntry(square: number, low: number, high: number): number {
  const gathered = (low & ANTIDIAGONALS[2 * square]) | (high & ANTIDIAGONALS[2 * square + 1]);
  return (ANTIDIAGONAL_LINE | (square << 6) | ((Math.imul(gathered, 0x01010101) >>> 25) & 63)) << 1;
}

function fillEntry(line: number, square: number, innerOccupancy: number): void {
  const [fileStep, rankStep] = LINE_STEPS[line];
  const entry = ((line << 12) | (square << 6) | innerOccupancy) << 1;
  for (const sign of [1, -1]) {
    let file = (square & 7) + sign * fileStep;
    let rank = (square >> 3) + sign * rankStep;
    while (file >= 0 && file < 8 && rank >= 0 && rank < 8) {
      LINE_ATTACKS[entry + (rank >> 2)] |= 1 << (rank * 8 + file);
      const place = fileStep === 0 ? rank : file;
      if (((innerOccupancy << 1) >> place) & 1) break;
      file += sign * fileStep;
      rank += sign * rankStep;
    }
  }
}

for (let square = 0; square < 64; square++) {
  for (let line = 0; line < 4; line++) {
    for (let innerOccupancy = 0; innerOccupancy < 64; innerOccupancy++) fillEntry(line, square, innerOccupancy);
  }
  for (let word = 0; word < 2; word++) {
    const self = square >> 5 === word ? 1 << square : 0;
    DIAGONALS[2 * square + word] = LINE_ATTACKS[((DIAGONAL_LINE | (square << 6)) << 1) + word] | self;
    ANTIDIAGONALS[2 * square + word] = LINE_ATTACKS[((ANTIDIAGONAL_LINE | (square << 6)) << 1) + word] | self;
  }
}
