/**
 * Computes the index of a position in a table. It first turns the board so that the leading piece stands in the
 * triangle a1-d1-d4, or with pawns on the files a to d. Positions that differ only by such a turn share an index.
 * Source: R. de Man's Syzygy format as described on the chessprogramming wiki, "Syzygy Bases".
 */
import { DamagedTable } from './file-bytes.js';
import type { Material } from './material.js';

// The numbers that the Syzygy format gives to squares, pairs of squares and sets of squares, after the board was turned.
// All are constant tables.
// Source: chessprogramming wiki, "Syzygy Bases"; R. de Man's description of the encoding.

/** At least the number of equal pieces that a table of seven men can hold. */
const MOST_ALIKE = 6;
const FILES = 4;

/** Above 0 for squares above the diagonal a1-h8, below 0 for squares below it, 0 on it. */
export function getDiagonalSide(square: number): number {
  return (square >> 3) - (square & 7);
}

/** Number of ways to choose k of n squares, at index k * 64 + n. */
export const BINOMIAL = createBinomials();

/** Numbers 0 … 9 of the squares of the triangle a1-d1-d4: below the diagonal by rank, then the diagonal; else −1. */
export const TRIANGLE = createTriangle();

/** Numbers 0 … 27 of the squares below the diagonal a1-h8, by rank; −1 elsewhere. */
export const BELOW_DIAGONAL = createBelowDiagonal();

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

/** Pairs with both kings on the diagonal come last. If only the first is on it, the second is below it. */
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

// How a table splits its pieces into groups and turns their squares into one index: each arrangement of a group has a
// number, and the index is Σ number(group) · weight(group). The first group is the one that symmetry acts on: the
// leading pawns, or three different pieces, or the two kings. Every further group is a set of equal pieces. Each table
// chooses the order of the weights.

/** Number of arrangements of three different pieces; position-index.ts numbers them. */
const TRIPLES_COUNT = 31332;
/** Stands for the place of the second group of pawns if only one side has pawns. */
export const NO_SECOND_PAWNS = 15;

export interface PieceGroups {
  /** Number of pieces in each group. The table's list of pieces holds the groups one after the other. */
  readonly lengths: readonly number[];
  readonly weights: Float64Array;
  /** Number of indices. */
  readonly size: number;
}

/**
 * Throws DamagedTable if the two places contradict each other or the pieces.
 * @param pieces piece codes in the order of the table
 * @param leaderPlace,secondPlace places of the first group and of the other side's pawns in the order of weights
 * @param file file of the leading pawn, 0 without pawns
 */
export function createPieceGroups(
  material: Material,
  pieces: ArrayLike<number>,
  leaderPlace: number,
  secondPlace: number,
  file: number,
): PieceGroups {
  const lengths = splitPieces(material, pieces);
  const hasSecondPawns = material.hasPawns && material.otherPawns > 0;
  const order = arrangeGroups(lengths.length, leaderPlace, hasSecondPawns ? secondPlace : NO_SECOND_PAWNS);
  const weights = new Float64Array(lengths.length);
  let free = 64 - lengths[0] - (hasSecondPawns ? lengths[1] : 0);
  let size = 1;
  for (const group of order) {
    weights[group] = size;
    if (group === 0) size *= countLeaders(material, lengths[0], file);
    else if (group === 1 && hasSecondPawns) size *= BINOMIAL[lengths[1] * 64 + 48 - lengths[0]];
    else {
      size *= BINOMIAL[lengths[group] * 64 + free];
      free -= lengths[group];
    }
  }
  return { lengths, weights, size };
}

/** Number of pieces in each group. */
function splitPieces(material: Material, pieces: ArrayLike<number>): number[] {
  let leading = material.leadingPawns;
  if (!material.hasPawns) leading = material.hasUniquePiece ? 3 : 2;
  const lengths = [leading];
  for (let i = leading; i < pieces.length; i++) {
    if (i > leading && pieces[i] === pieces[i - 1]) lengths[lengths.length - 1]++;
    else lengths.push(1);
  }
  return lengths;
}

/** The groups in order of weight, smallest first. */
function arrangeGroups(count: number, leaderPlace: number, secondPlace: number): number[] {
  const hasSecond = secondPlace !== NO_SECOND_PAWNS;
  if (leaderPlace >= count || (hasSecond && secondPlace >= count) || leaderPlace === secondPlace) {
    throw new DamagedTable('the order of its pieces is impossible');
  }
  let next = hasSecond ? 2 : 1;
  return Array.from({ length: count }, (_, place) => {
    if (place === leaderPlace) return 0;
    return place === secondPlace ? 1 : next++;
  });
}

/** Number of arrangements of the first group. */
function countLeaders({ hasPawns, hasUniquePiece }: Material, length: number, file: number): number {
  if (hasPawns) return LEADER_COUNT[length * 4 + file];
  return hasUniquePiece ? TRIPLES_COUNT : KING_PAIRS_COUNT;
}

/**
 * Numbers of arrangements of three pieces: the first is off the diagonal a1-h8; only the first, or the first two, are
 * on it.
 */
const NONE_ON_DIAGONAL = 6 * 63 * 62;
const ONE_ON_DIAGONAL = 4 * 28 * 62;
const TWO_ON_DIAGONAL = 4 * 7 * 28;

/**
 * @param squares squares of the pieces in the order of the table, the leading pawn first; turned and sorted in place
 * @param count number of pieces
 */
export function computePositionIndex(
  material: Material,
  groups: PieceGroups,
  squares: Int32Array,
  count: number,
): number {
  const { lengths, weights } = groups;
  if ((squares[0] & 4) !== 0) for (let i = 0; i < count; i++) squares[i] ^= 7;
  let number: number;
  if (material.hasPawns) number = numberLeadingPawns(squares, lengths[0]);
  else {
    turnIntoTriangle(squares, count, lengths[0]);
    number = material.hasUniquePiece ? numberTriple(squares) : KING_PAIRS[TRIANGLE[squares[0]] * 64 + squares[1]];
  }
  let index = number * weights[0];
  let start = lengths[0];
  for (let group = 1; group < lengths.length; group++) {
    const isPawns = group === 1 && material.hasPawns && material.otherPawns > 0;
    index += numberEqualPieces(squares, start, lengths[group], isPawns ? 8 : 0) * weights[group];
    start += lengths[group];
  }
  return index;
}

/** Mirrors the squares so that the leading pieces are in the triangle a1-d1-d4. The first is on the files a to d. */
function turnIntoTriangle(squares: Int32Array, count: number, leaders: number): void {
  if ((squares[0] & 32) !== 0) for (let i = 0; i < count; i++) squares[i] ^= 56;
  for (let i = 0; i < leaders; i++) {
    const side = getDiagonalSide(squares[i]);
    if (side < 0) return;
    if (side === 0) continue;
    for (let j = i; j < count; j++) squares[j] = ((squares[j] >> 3) | (squares[j] << 3)) & 63;
    return;
  }
}

/** Number of the arrangement of the leading pawns. Sorts them by PAWN_ORDER, after the first. */
function numberLeadingPawns(squares: Int32Array, count: number): number {
  for (let i = 2; i < count; i++) {
    const square = squares[i];
    let j = i;
    for (; j > 1 && PAWN_ORDER[squares[j - 1]] > PAWN_ORDER[square]; j--) squares[j] = squares[j - 1];
    squares[j] = square;
  }
  let number = LEADER_START[count * 64 + squares[0]];
  for (let i = 1; i < count; i++) number += BINOMIAL[i * 64 + PAWN_ORDER[squares[i]]];
  return number;
}

/**
 * Number of the arrangement of three different pieces. Each piece counts among the squares that those before it leave.
 */
function numberTriple(squares: Int32Array): number {
  const a = squares[0];
  const b = squares[1];
  const c = squares[2];
  const belowB = b > a ? 1 : 0;
  const belowC = (c > a ? 1 : 0) + (c > b ? 1 : 0);
  if (getDiagonalSide(a) !== 0) return (TRIANGLE[a] * 63 + b - belowB) * 62 + c - belowC;
  if (getDiagonalSide(b) !== 0) {
    return NONE_ON_DIAGONAL + ((a >> 3) * 28 + BELOW_DIAGONAL[b]) * 62 + c - belowC;
  }
  const rankB = (b >> 3) - belowB;
  if (getDiagonalSide(c) !== 0) {
    return NONE_ON_DIAGONAL + ONE_ON_DIAGONAL + ((a >> 3) * 7 + rankB) * 28 + BELOW_DIAGONAL[c];
  }
  return NONE_ON_DIAGONAL + ONE_ON_DIAGONAL + TWO_ON_DIAGONAL + ((a >> 3) * 7 + rankB) * 6 + (c >> 3) - belowC;
}

/**
 * Number of the arrangement of equal pieces: a combination of the squares that earlier groups leave. Sorts the squares.
 * @param below number of squares below the lowest on which these pieces can stand
 */
function numberEqualPieces(squares: Int32Array, start: number, count: number, below: number): number {
  for (let i = start + 1; i < start + count; i++) {
    const square = squares[i];
    let j = i;
    for (; j > start && squares[j - 1] > square; j--) squares[j] = squares[j - 1];
    squares[j] = square;
  }
  let number = 0;
  for (let i = 0; i < count; i++) {
    const square = squares[start + i];
    let taken = below;
    for (let j = 0; j < start; j++) if (squares[j] < square) taken++;
    number += BINOMIAL[(i + 1) * 64 + square - taken];
  }
  return number;
}
