/**
 * Computes the index of a position in a table. It first turns the board so that the leading piece stands in the
 * triangle a1-d1-d4, or with pawns on the files a to d. Positions that differ only by such a turn share an index.
 * Source: R. de Man's Syzygy format as described on the chessprogramming wiki, "Syzygy Bases".
 *
 * How a table splits its pieces into groups and turns their squares into one index: each arrangement of a group has a
 * number, and the index is Σ number(group) · weight(group). The first group is the one that symmetry acts on: the
 * leading pawns, or three different pieces, or the two kings. Every further group is a set of equal pieces. Each table
 * chooses the order of the weights.
 */
import { DamagedTable } from './file-bytes.js';
import type { Material } from './material.js';
import {
  BELOW_DIAGONAL,
  BINOMIAL,
  getDiagonalSide,
  KING_PAIRS,
  KING_PAIRS_COUNT,
  LEADER_COUNT,
  LEADER_START,
  PAWN_ORDER,
  TRIANGLE,
} from './square-numbers.js';

/** Number of arrangements of three different pieces; `numberTriple` numbers them. */
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
