/**
 * The score of a match, from the first player's view: single games, and pairs of games with the same opening and swapped colours.
 * Statistics use pairs, because the two games of an opening are not independent.
 */

export interface GameCounts {
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}

/** Pairs by their points: 0, ½, 1, 1½ and 2. */
export type PairCounts = readonly [number, number, number, number, number];

/** A sample of scores in [0, 1] by how often each occurred: what every statistic below works on. */
export interface ScoreDistribution {
  readonly scores: readonly number[];
  readonly counts: readonly number[];
  /** Games in one score: 1, or 2 for pairs. */
  readonly gamesPerScore: 1 | 2;
}

export function distributeGames({ wins, draws, losses }: GameCounts): ScoreDistribution {
  return { scores: [0, 0.5, 1], counts: [losses, draws, wins], gamesPerScore: 1 };
}

export function distributePairs(pairs: PairCounts): ScoreDistribution {
  return { scores: [0, 0.25, 0.5, 0.75, 1], counts: pairs, gamesPerScore: 2 };
}

/** The complete pairs, because they have a smaller variance than single games; the single games until there is a pair. */
export function distributeResults(games: GameCounts, pairs: PairCounts): ScoreDistribution {
  return pairs.some((count) => count > 0) ? distributePairs(pairs) : distributeGames(games);
}

export interface ScoreMoments {
  readonly count: number;
  readonly mean: number;
  /** Of one score, not of the mean. */
  readonly variance: number;
}

export function computeMoments({ scores, counts }: ScoreDistribution): ScoreMoments {
  let count = 0;
  let sum = 0;
  for (let i = 0; i < scores.length; i++) {
    count += counts[i];
    sum += counts[i] * scores[i];
  }
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < scores.length; i++) squares += counts[i] * (scores[i] - mean) ** 2;
  return { count, mean, variance: squares / count };
}
