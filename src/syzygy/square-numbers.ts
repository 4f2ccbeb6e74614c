/**
 * The numbers that the Syzygy format gives to squares and to pairs and sets of them, once symmetry has moved the board so
 * that its leading piece stands where the format wants it. Tables of constants, made once.
 * Source: chessprogramming wiki, "Syzygy Bases"; R. de Man's description of the encoding.
 */

/** Most pieces of one kind that a table of seven men can hold beside the kings, and one to spare. */
const MOST_ALIKE = 6;
const FILES = 4;

/** Above 0 for squares above the diagonal a1-h8, below 0 for squares below it. */
export function getDiagonalSide(square: number): number {
  return (square >> 3) - (square & 7);
}

/** k * 64 + n → ways to choose k of n squares. */
export const BINOMIAL = createBinomials();

/** Squares of the triangle a1-d1-d4 → 0 … 9: those below the diagonal by rank, then the diagonal; -1 elsewhere. */
export const TRIANGLE = createTriangle();

/** Squares below the diagonal a1-h8 → 0 … 27 by rank; -1 elsewhere. */
export const BELOW_DIAGONAL = createBelowDiagonal();

export const KING_PAIRS_COUNT = 462;
/** TRIANGLE of the first king * 64 + square of the second → 0 … 461; -1 for pairs that cannot stand. */
export const KING_PAIRS = createKingPairs();

/**
 * Squares a pawn can stand on → 47 … 0: the pawn of the highest number leads. Nearest the edge comes first, then the lowest
 * rank, then the queen's side; so it is also how many squares are left for other pawns when the leader stands here.
 */
export const PAWN_ORDER = createPawnOrder();

/** pawns * 64 + square of the leader → number of the first arrangement of so many pawns led from there, per file. */
export const LEADER_START = new Int32Array((MOST_ALIKE + 1) * 64);
/** pawns * 4 + file of the leader (a … d) → arrangements. */
export const LEADER_COUNT = new Int32Array((MOST_ALIKE + 1) * FILES);
fillLeaderTables();

function createBinomials(): Float64Array {
  const table = new Float64Array((MOST_ALIKE + 1) * 64);
  for (let n = 0; n < 64; n++) {
    table[n] = 1;
    for (let k = 1; k <= MOST_ALIKE && n > 0; k++) {
      table[k * 64 + n] = table[(k - 1) * 64 + n - 1] + table[k * 64 + n - 1];
    }
  }
  return table;
}

function createTriangle(): Int8Array {
  const numbers = new Int8Array(64).fill(-1);
  let next = 0;
  for (const wantsDiagonal of [false, true]) {
    for (let square = 0; square < 32; square++) {
      const side = getDiagonalSide(square);
      if ((square & 7) < FILES && (wantsDiagonal ? side === 0 : side < 0)) numbers[square] = next++;
    }
  }
  return numbers;
}

function createBelowDiagonal(): Int8Array {
  const numbers = new Int8Array(64).fill(-1);
  let next = 0;
  for (let square = 0; square < 64; square++) if (getDiagonalSide(square) < 0) numbers[square] = next++;
  return numbers;
}

/** Pairs with both kings on the diagonal come last; with only the first on it the second stands below. */
function createKingPairs(): Int16Array {
  const numbers = new Int16Array(10 * 64).fill(-1);
  const first = Array.from({ length: 10 }, (_, number) => TRIANGLE.indexOf(number));
  let next = 0;
  for (const wantsBothOnDiagonal of [false, true]) {
    for (let number = 0; number < 10; number++) {
      const king = first[number];
      for (let other = 0; other < 64; other++) {
        const distance = Math.max(Math.abs((king >> 3) - (other >> 3)), Math.abs((king & 7) - (other & 7)));
        const isOnDiagonal = getDiagonalSide(king) === 0;
        const otherSide = getDiagonalSide(other);
        if (distance <= 1 || (isOnDiagonal && otherSide > 0)) continue;
        if (wantsBothOnDiagonal === (isOnDiagonal && otherSide === 0)) numbers[number * 64 + other] = next++;
      }
    }
  }
  return numbers;
}

function createPawnOrder(): Int8Array {
  const numbers = new Int8Array(64).fill(-1);
  let next = 47;
  for (let file = 0; file < FILES; file++) {
    for (let rank = 1; rank <= 6; rank++) {
      numbers[rank * 8 + file] = next--;
      numbers[rank * 8 + (file ^ 7)] = next--;
    }
  }
  return numbers;
}

function fillLeaderTables(): void {
  for (let pawns = 1; pawns <= MOST_ALIKE; pawns++) {
    for (let file = 0; file < FILES; file++) {
      let next = 0;
      for (let rank = 1; rank <= 6; rank++) {
        const square = rank * 8 + file;
        LEADER_START[pawns * 64 + square] = next;
        next += BINOMIAL[(pawns - 1) * 64 + PAWN_ORDER[square]];
      }
      LEADER_COUNT[pawns * FILES + file] = next;
    }
  }
}
