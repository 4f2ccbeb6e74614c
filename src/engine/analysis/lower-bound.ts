/**
 * How far the true value of a move may lie below its average: KataGo's lower confidence bound
 * (cpp/search/searchhelpers.cpp, getSelfUtilityLCBAndRadius; the idea: leela-zero#2282).
 *
 * Legend: n = visits; s = mean square of the utility, R = largest utility, z = standard deviations to go down.
 * A prior of weight 1/n² holds that the variance is as large as it can be (s + R²), so that a move with few visits has a
 * wide interval although its few evaluations agree.
 */
const DEVIATIONS = 5;
const LARGEST_UTILITY = 1;
const SMALLEST_VARIANCE = 1e-8;

/** @returns the distance from the mean down to the bound, in units of utility */
export function computeBoundRadius(visits: number, mean: number, meanSquare: number): number {
  if (visits <= 0) return 2 * LARGEST_UTILITY * DEVIATIONS;
  const square = Math.max(meanSquare, mean * mean + SMALLEST_VARIANCE);
  const priorWeight = 1 / (visits * visits);
  const weight = visits + priorWeight;
  const mixed = square + (LARGEST_UTILITY * LARGEST_UTILITY * priorWeight) / weight;
  const sampleSize = (weight * weight) / (visits + priorWeight * priorWeight);
  return DEVIATIONS * Math.sqrt((mixed - mean * mean) / sampleSize);
}
