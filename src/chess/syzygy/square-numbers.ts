/** At least the number of equal pieces that a table of seven men can hold. */
export const MOST_ALIKE = 6;
export const FILES = 4;

/** Above 0 for squares above the diagonal a1-h8, below 0 for squares below it, 0 on it. */
export function getDiagonalSide(square: number): number {
  return (square >> 3) - (square & 7);
}

/** Number of ways to choose k of n squares, at index k * 64 + n. */
export const BINOMIAL = createBinomials();

const BELOW = [...Array(64).keys()].filter((square) => getDiagonalSide(square) < 0);
/** The squares of the triangle a1-d1-d4: below the diagonal by rank, then the diagonal. */
const TRIANGLE_SQUARES = [...BELOW.filter((square) => square < 32 && (square & 7) < FILES), 0, 9, 18, 27];

/** Numbers 0 … 9 of the squares of the triangle; −1 elsewhere. */
export const TRIANGLE = numberSquares(TRIANGLE_SQUARES);

/** Numbers 0 … 27 of the squares below the diagonal a1-h8, by rank; −1 elsewhere. */
export const BELOW_DIAGONAL = numberSquares(BELOW);

export const KING_PAIRS_COUNT = 462;
/** Numbers 0 … 461 of pairs of kings, at index TRIANGLE of the first * 64 + square of the second; −1 if impossible. */
export const KING_PAIRS = createKingPairs();

/**
 * Numbers 47 … 0 of the squares on which a pawn can stand; the pawn with the highest number leads. Files near the edge
 * come first, then low ranks, then the queen's side. So the number is also how many squares remain for other pawns if
 * the leader stands here.
 */
export const PAWN_ORDER = createPawnOrder();

/** Number of the first arrangement with this leader among those of its file, at index pawns * 64 + leader's square. */
export const LEADER_START = new Int32Array((MOST_ALIKE + 1) * 64);
/** Number of arrangements, at index pawns * 4 + file of the leader (a … d). */
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

/** The place of each square in the list; −1 for the others. */
function numberSquares(squares: readonly number[]): Int8Array {
  return Int8Array.from({ length: 64 }, (_, square) => squares.indexOf(square));
}

/** Pairs with both kings on the diagonal come last. If only the first is on it, the second is below it. */
function createKingPairs(): Int16Array {
  const numbers = new Int16Array(10 * 64).fill(-1);
  let next = 0;
  for (const wantsBothOnDiagonal of [false, true]) {
    for (const [number, king] of TRIANGLE_SQUARES.entries()) {
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
