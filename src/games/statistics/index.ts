/** The door of statistics/: Elo, likelihoods and SPRT of game results. */
export {
  computeElo,
  computeNormalProbability,
  computeSprt,
  distributeGames,
  distributePairs,
  type EloEstimate,
  estimateElo,
  type GameCounts,
  type PairCounts,
  parseSprt,
  type ScoreDistribution,
  type SprtSettings,
  type SprtState,
} from './statistics.js';
