/**
 * Winograd's minimal filtering F(8, 3) over the 8 ranks of a board: it computes 8 outputs of a 3-tap filter with 10 products
 * instead of 24 (Toom-Cook over 9 points and infinity; Lavin and Gray, "Fast Algorithms for Convolutional Neural
 * Networks", 2015). With d the ranks plus one empty rank on either side, and g the taps,
 * y = inverse · ((filter · g) ⊙ (forward · d)). `forward` leaves out the empty ranks.
 *
 * Only one axis is transformed. Over both axes there would be even fewer products, but rounding errors multiply and the
 * transforms cost more than is saved. The points p and −1/p keep the error of a layer in float32 at 1.7e-6 of its output
 * (direct: 1e-7; with points 0, ±1, ±2, ±½, ±1½: 2.8e-6).
 */

export const RANKS = 8;
const TAPS = 3;
const POINTS = [0, 1, -1, 1 / 2, -2, 3 / 2, -2 / 3, 3, -1 / 3];
/** Products for each output column of 8. */
export const PRODUCTS = POINTS.length + 1;
/** The product of point 1: a value added to it is added to all outputs. */
export const BIAS_PRODUCT = POINTS.indexOf(1);

export interface WinogradMatrices {
  /** [PRODUCTS][RANKS], row by row. */
  readonly forward: Float32Array;
  /** [RANKS][PRODUCTS]. */
  readonly inverse: Float32Array;
  /** [PRODUCTS][3], in double precision. */
  readonly filter: readonly (readonly number[])[];
}

export function createWinogradMatrices(): WinogradMatrices {
  const filter: number[][] = [];
  const forward = new Float32Array(PRODUCTS * RANKS);
  const inverse = new Float32Array(RANKS * PRODUCTS);
  for (let product = 0; product < PRODUCTS; product++) {
    const point = POINTS[product] as number | undefined;
    const others = POINTS.filter((_, index) => index !== product);
    const polynomial = expandRoots(others);
    // d[0] is the empty rank.
    for (let rank = 0; rank < RANKS; rank++) forward[product * RANKS + rank] = polynomial[rank + 1] ?? 0;
    if (point === undefined) {
      filter.push([0, 0, 1]);
      inverse[(RANKS - 1) * PRODUCTS + product] = 1;
      continue;
    }
    const norm = others.reduce((value, other) => value * (point - other), 1);
    filter.push(Array.from({ length: TAPS }, (_, tap) => point ** tap / norm));
    for (let rank = 0; rank < RANKS; rank++) inverse[rank * PRODUCTS + product] = point ** rank;
  }
  return { forward, inverse, filter };
}

/** Coefficients of ∏ (z − root), constant term first. */
function expandRoots(roots: readonly number[]): number[] {
  let coefficients = [1];
  for (const root of roots) {
    const next = [...coefficients.map((value) => -root * value), 0];
    coefficients.forEach((value, degree) => {
      next[degree + 1] += value;
    });
    coefficients = next;
  }
  return coefficients;
}
