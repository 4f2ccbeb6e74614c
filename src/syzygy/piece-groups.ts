/**
 * How a table splits its pieces into groups and turns their squares into one index: each arrangement of a group has a
 * number, and the index is Σ number(group) · weight(group). The first group is the one that symmetry acts on: the
 * leading pawns, or three different pieces, or the two kings. Every further group is a set of equal pieces. Each table
 * chooses the order of the weights.
 */
import { DamagedTable } from './header-reader.js';
import type { Material } from './material.js';
import { BINOMIAL, KING_PAIRS_COUNT, LEADER_COUNT } from './square-numbers.js';

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
