/** The door of statistics/: Elo, likelihoods and SPRT of game results. */

export { computeElo, type EloEstimate, estimateElo } from './elo.js';
export { computeNormalProbability } from './normal-distribution.js';
export {
  distributeGames,
  distributePairs,
  distributeResults,
  type GameCounts,
  type PairCounts,
  type ScoreDistribution,
} from './scores.js';
export { computeSprt, parseSprt, type SprtSettings, type SprtState } from './sprt.js';
