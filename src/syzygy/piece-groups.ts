/**
 * How a table splits its pieces into groups, each numbered by itself, and how the numbers make one index:
 * Σ number(group) · weight(group). First comes the group that symmetry acts on: the leading pawns, or three different pieces,
 * or the two kings. Every further group is a set of equal pieces. The order of weights is a choice of each table.
 */
import { DamagedTable } from './damage.js';
import type { Material } from './material.js';
import { BINOMIAL, KING_PAIRS_COUNT, LEADER_COUNT } from './square-numbers.js';

/** Arrangements of three different pieces: see position-index.ts. */
const TRIPLES_COUNT = 31332;
/** In place of the position of the second pawn group when only one side has pawns. */
export const NO_SECOND_PAWNS = 15;

export interface PieceGroups {
  /** Pieces of each group; they follow each other in the table's list of pieces. */
  readonly lengths: readonly number[];
  readonly weights: Float64Array;
  /** Positions in the table. */
  readonly size: number;
}

/**
 * @param pieces codes in the order of the table
 * @param leaderPlace,secondPlace where the first group and the other side's pawns stand in the order of weights
 * @param file of the leading pawn, 0 without pawns
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

/** Groups from the smallest weight to the largest. */
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

function countLeaders({ hasPawns, hasUniquePiece }: Material, length: number, file: number): number {
  if (hasPawns) return LEADER_COUNT[length * 4 + file];
  return hasUniquePiece ? TRIPLES_COUNT : KING_PAIRS_COUNT;
}
