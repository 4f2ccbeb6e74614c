/**
 * Computes Elo difference, its error bars, normalised Elo and likelihood of superiority from a score distribution.
 *
 * Legend: s = mean score in [0, 1]; σ² = variance of one score; N = number of scores.
 * Logistic Elo: −400·log10(1/s − 1). Interval: s ± 1.96·σ/√N, mapped through that curve.
 * Normalised Elo (M. Van den Bergh, "Normalized Elo", fishtest): (s − ½)/(σ·√k)·800/ln 10, where k games make a score,
 * so that σ·√k is the deviation of one game.
 * LOS: P(s > ½) with s normal. Sources: fishtest's and fastchess's statistics; their published cases are the tests.
 */

import { computeNormalProbability, Z_95 } from './normal-distribution.js';
import { computeMoments, type ScoreDistribution } from './scores.js';

export const ELO_PER_NORMALISED = 800 / Math.LN10;

export interface EloEstimate {
  /** Infinite when every game was won (or lost). */
  readonly elo: number;
  /** Half the width of the 95 % interval; infinite when an end lies at a score of 0 or 1. */
  readonly eloError: number;
  readonly eloLow: number;
  readonly eloHigh: number;
  readonly normalisedElo: number;
  readonly normalisedEloError: number;
  /** Probability that the first player is the stronger. */
  readonly los: number;
  readonly score: number;
}

export function computeElo(score: number): number {
  if (score <= 0) return Number.NEGATIVE_INFINITY;
  if (score >= 1) return Number.POSITIVE_INFINITY;
  return -400 * Math.log10(1 / score - 1);
}

export function computeExpectedScore(elo: number): number {
  return 1 / (1 + 10 ** (-elo / 400));
}

/** Null before the first score. */
export function estimateElo(distribution: ScoreDistribution): EloEstimate | null {
  const { count, mean, variance } = computeMoments(distribution);
  if (count === 0) return null;
  const standardError = Math.sqrt(variance / count);
  const margin = Z_95 * standardError;
  const hasSpread = variance > 0;
  const eloLow = hasSpread ? computeElo(mean - margin) : Number.NEGATIVE_INFINITY;
  const eloHigh = hasSpread ? computeElo(mean + margin) : Number.POSITIVE_INFINITY;
  const perGame = Math.sqrt(variance * distribution.gamesPerScore);
  return {
    elo: computeElo(mean),
    eloError: hasSpread ? (eloHigh - eloLow) / 2 : Number.POSITIVE_INFINITY,
    eloLow,
    eloHigh,
    normalisedElo: mean === 0.5 ? 0 : ((mean - 0.5) / perGame) * ELO_PER_NORMALISED,
    normalisedEloError: hasSpread ? (margin / perGame) * ELO_PER_NORMALISED : Number.POSITIVE_INFINITY,
    los: hasSpread ? computeNormalProbability((mean - 0.5) / standardError) : mean > 0.5 ? 1 : mean < 0.5 ? 0 : 0.5,
    score: mean,
  };
}
