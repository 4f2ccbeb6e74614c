/**
 * Attacks: their tables and the lines between squares, whether a side attacks a square, what a single piece attacks, and which checks and
 * pins limit the side to move. Input encodings draw attack maps from it, and error messages use it to say why a move is illegal.
 *
 * Hot modules of this room write `import * as attacks` and `const { KNIGHT_ATTACKS } = attacks` to use a table. V8
 * folds a module's own constants into optimised code but loads and checks a directly imported one at every use, which
 * cost perft a quarter of its speed (Node 20).
 */
import { BISHOP, type Board, KING, KNIGHT, PAWN, popCount64, QUEEN, ROOK } from './board.js';

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

export const KNIGHT_ATTACKS = new Int32Array(128);
export const KING_ATTACKS = new Int32Array(128);
/** Attacks of White's pawns, then of Black's: index `2 * square + 128 * color`. */
export const PAWN_ATTACKS = new Int32Array(256);

function fill(table: Int32Array, offset: number, steps: readonly (readonly [number, number])[]): void {
  for (let square = 0; square < 64; square++) {
    for (const [fileStep, rankStep] of steps) {
      for (const first of squaresFrom(square, fileStep, rankStep).slice(0, 1)) add(table, offset + 2 * square, first);
    }
  }
}

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

fill(KNIGHT_ATTACKS, 0, KNIGHT_JUMPS);
fill(KING_ATTACKS, 0, QUEEN_DIRECTIONS);
fill(PAWN_ATTACKS, 0, [
  [-1, 1],
  [1, 1],
]);
fill(PAWN_ATTACKS, 128, [
  [-1, -1],
  [1, -1],
]);

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

for (let square = 0; square < 64; square++) {
  for (const [fileStep, rankStep] of QUEEN_DIRECTIONS) {
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

for (let square = 0; square < 64; square++) {
  LINE_STEPS.forEach(([fileStep, rankStep], line) => {
    const arms = [squaresFrom(square, fileStep, rankStep), squaresFrom(square, -fileStep, -rankStep)];
    for (let innerOccupancy = 0; innerOccupancy < 64; innerOccupancy++) {
      for (const arm of arms) {
        for (const other of arm) {
          add(LINE_ATTACKS, ((line << 12) | (square << 6) | innerOccupancy) << 1, other);
          const place = fileStep === 0 ? other >> 3 : other & 7;
          if (((innerOccupancy << 1) >> place) & 1) break;
        }
      }
    }
  });
  for (let word = 0; word < 2; word++) {
    const self = square >> 5 === word ? 1 << square : 0;
    DIAGONALS[2 * square + word] = LINE_ATTACKS[((DIAGONAL_LINE | (square << 6)) << 1) + word] | self;
    ANTIDIAGONALS[2 * square + word] = LINE_ATTACKS[((ANTIDIAGONAL_LINE | (square << 6)) << 1) + word] | self;
  }
}

/**
 * Whether a side attacks a square. The caller chooses the set of occupied squares, so it can test a king step, castling or an en
 * passant capture before it is made.
 * @param masks see Board.masks
 * @param occupiedLow,occupiedHigh the occupied squares; a piece that stands elsewhere neither attacks nor blocks
 */
export function isAttacked(
  masks: Int32Array,
  square: number,
  byColor: number,
  occupiedLow: number,
  occupiedHigh: number,
): boolean {
  const own = byColor << 4;
  const entry = square << 1;
  const pawns = entry + ((byColor ^ 1) << 7);
  if (
    ((KNIGHT_ATTACKS[entry] & masks[own + 2 * KNIGHT]) |
      (PAWN_ATTACKS[pawns] & masks[own + 2 * PAWN]) |
      (KING_ATTACKS[entry] & masks[own + 2 * KING])) &
      occupiedLow ||
    ((KNIGHT_ATTACKS[entry + 1] & masks[own + 2 * KNIGHT + 1]) |
      (PAWN_ATTACKS[pawns + 1] & masks[own + 2 * PAWN + 1]) |
      (KING_ATTACKS[entry + 1] & masks[own + 2 * KING + 1])) &
      occupiedHigh
  ) {
    return true;
  }
  // Most squares have no enemy slider on their lines; skip the table look-ups for them.
  const straightLow = (masks[own + 2 * ROOK] | masks[own + 2 * QUEEN]) & occupiedLow;
  const straightHigh = (masks[own + 2 * ROOK + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((ROOK_RAYS[entry] & straightLow) | (ROOK_RAYS[entry + 1] & straightHigh)) {
    const rank = rankEntry(square, occupiedLow, occupiedHigh);
    const file = fileEntry(square, occupiedLow, occupiedHigh);
    const low = LINE_ATTACKS[rank] | LINE_ATTACKS[file];
    const high = LINE_ATTACKS[rank + 1] | LINE_ATTACKS[file + 1];
    if ((low & straightLow) | (high & straightHigh)) return true;
  }
  const diagonalLow = (masks[own + 2 * BISHOP] | masks[own + 2 * QUEEN]) & occupiedLow;
  const diagonalHigh = (masks[own + 2 * BISHOP + 1] | masks[own + 2 * QUEEN + 1]) & occupiedHigh;
  if ((BISHOP_RAYS[entry] & diagonalLow) | (BISHOP_RAYS[entry + 1] & diagonalHigh)) {
    const diagonal = diagonalEntry(square, occupiedLow, occupiedHigh);
    const antidiagonal = antidiagonalEntry(square, occupiedLow, occupiedHigh);
    const low = LINE_ATTACKS[diagonal] | LINE_ATTACKS[antidiagonal];
    const high = LINE_ATTACKS[diagonal + 1] | LINE_ATTACKS[antidiagonal + 1];
    if ((low & diagonalLow) | (high & diagonalHigh)) return true;
  }
  return false;
}

/**
 * The set of squares that the piece on `square` attacks, one word of it: 0 for squares 0..31, 1 for squares 32..63. It
 * includes squares of own pieces and ignores pins. An empty square attacks nothing.
 */
export function getPieceAttacks(position: Board, square: number, word: 0 | 1): number {
  const low = position.masks[0] | position.masks[16];
  const high = position.masks[1] | position.masks[17];
  return getAttacksFrom(position.board[square], square, low, high, word);
}

/**
 * One word of the squares that a piece would attack from `square`.
 * @param piece piece code with its colour
 * @param low,high the occupied squares, at which sliding pieces stop
 */
export function getAttacksFrom(piece: number, square: number, low: number, high: number, word: 0 | 1): number {
  const type = piece & 7;
  if (type === PAWN) return PAWN_ATTACKS[((piece >> 3) << 7) + 2 * square + word];
  if (type === KNIGHT) return KNIGHT_ATTACKS[2 * square + word];
  if (type === KING) return KING_ATTACKS[2 * square + word];
  let attacks = 0;
  if (type === ROOK || type === QUEEN) {
    attacks |= LINE_ATTACKS[rankEntry(square, low, high) + word] | LINE_ATTACKS[fileEntry(square, low, high) + word];
  }
  if (type === BISHOP || type === QUEEN) {
    attacks |= LINE_ATTACKS[diagonalEntry(square, low, high) + word];
    attacks |= LINE_ATTACKS[antidiagonalEntry(square, low, high) + word];
  }
  return attacks;
}

/** Whether the piece on `from` can move to `to` if checks and pins are ignored; castling does not count. */
export function canReach(position: Board, from: number, to: number): boolean {
  const { board } = position;
  const color = board[from] >> 3;
  const isCapture = board[to] !== 0;
  if (isCapture && board[to] >> 3 === color) return false;
  const isAttacked = ((getPieceAttacks(position, from, to < 32 ? 0 : 1) >> (to & 31)) & 1) === 1;
  if ((board[from] & 7) !== PAWN) return isAttacked;
  if (isAttacked) return isCapture || to === position.enPassantSquare;
  const step = color === 0 ? 8 : -8;
  const isFromSecond = from >> 3 === (color === 0 ? 1 : 6);
  return !isCapture && (to === from + step || (to === from + 2 * step && isFromSecond && board[from + step] === 0));
}

/**
 * Results of the last call of findConstraints, two words each. They live here because returning four numbers would
 * allocate an object.
 *
 *   TARGETS   squares to which a piece other than the king may move: all without an own piece or, in check, those that
 *             capture the checker or block it (meaningless in double check)
 *   PINNED    own pieces that may move only along the line through their king
 */
export const TARGETS = new Int32Array(2);
export const PINNED = new Int32Array(2);

/**
 * Fills TARGETS and PINNED and returns the number of pieces that give check. Generation does so once a position, looking outwards
 * from the king, and then produces legal moves only.
 * @param masks see Board.masks
 * @param king square of the king of `us`
 */
export function findConstraints(masks: Int32Array, us: number, king: number): number {
  const own = us << 4;
  const enemy = own ^ 16;
  const occupiedLow = masks[0] | masks[16];
  const occupiedHigh = masks[1] | masks[17];
  const pawns = (us << 7) + 2 * king;
  let checkersLow =
    (KNIGHT_ATTACKS[2 * king] & masks[enemy + 2 * KNIGHT]) | (PAWN_ATTACKS[pawns] & masks[enemy + 2 * PAWN]);
  let checkersHigh =
    (KNIGHT_ATTACKS[2 * king + 1] & masks[enemy + 2 * KNIGHT + 1]) |
    (PAWN_ATTACKS[pawns + 1] & masks[enemy + 2 * PAWN + 1]);
  let shieldLow = 0;
  let shieldHigh = 0;
  let pinnedLow = 0;
  let pinnedHigh = 0;
  for (let word = 0; word < 2; word++) {
    // Sliders that would attack the king on an empty board. With no piece between they give check; with one they pin
    // it if it is ours; with more they do nothing.
    const queens = masks[enemy + 2 * QUEEN + word];
    let snipers =
      (ROOK_RAYS[2 * king + word] & (masks[enemy + 2 * ROOK + word] | queens)) |
      (BISHOP_RAYS[2 * king + word] & (masks[enemy + 2 * BISHOP + word] | queens));
    while (snipers !== 0) {
      const bit = 31 - Math.clz32(snipers);
      snipers ^= 1 << bit;
      const pair = pairEntry(king, (word << 5) | bit);
      const low = BETWEEN[pair] & occupiedLow;
      const high = BETWEEN[pair + 1] & occupiedHigh;
      const blockers = popCount64(low, high);
      if (blockers === 0) {
        if (word === 0) checkersLow |= 1 << bit;
        else checkersHigh |= 1 << bit;
        shieldLow |= BETWEEN[pair];
        shieldHigh |= BETWEEN[pair + 1];
      } else if (blockers === 1) {
        pinnedLow |= low & masks[own];
        pinnedHigh |= high & masks[own + 1];
      }
    }
  }
  const isCheck = (checkersLow | checkersHigh) !== 0;
  TARGETS[0] = isCheck ? checkersLow | shieldLow : ~masks[own];
  TARGETS[1] = isCheck ? checkersHigh | shieldHigh : ~masks[own + 1];
  PINNED[0] = pinnedLow;
  PINNED[1] = pinnedHigh;
  return isCheck ? popCount64(checkersLow, checkersHigh) : 0;
}
