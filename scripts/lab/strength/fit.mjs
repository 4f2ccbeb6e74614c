// Ratings from scores (logistic regression): the Elo values that make the games most likely, with their errors.

const SCALE = Math.LN10 / 400;
/** A very weak prior, so that a level which won or lost every game has a finite rating. */
const PRIOR = { elo: 1500, deviation: 700 };
const ROUNDS = 100;
const LARGEST_STEP = 200;

/**
 * @param {number} playerCount
 * @param {{ player: number, opponent: { elo: number } | { player: number }, games: number, points: number }[]} pairings
 *   points of `player`; an opponent has a known rating or is a player itself
 * @returns {{ elo: number, error: number }[]} error: half the 95 % interval
 */
export function fitRatings(playerCount, pairings) {
  const ratings = new Array(playerCount).fill(PRIOR.elo);
  let precision = [];
  for (let round = 0; round < ROUNDS; round++) {
    const gradient = ratings.map((elo) => (PRIOR.elo - elo) / PRIOR.deviation ** 2);
    precision = ratings.map((_, i) => ratings.map((_, j) => (i === j ? 1 / PRIOR.deviation ** 2 : 0)));
    for (const { player, opponent, games, points } of pairings) {
      const other = opponent.player;
      const difference = ratings[player] - (other === undefined ? opponent.elo : ratings[other]);
      const expected = 1 / (1 + Math.exp(-SCALE * difference));
      const surprise = SCALE * (points - games * expected);
      const weight = SCALE ** 2 * games * expected * (1 - expected);
      gradient[player] += surprise;
      precision[player][player] += weight;
      if (other === undefined) continue;
      gradient[other] -= surprise;
      precision[other][other] += weight;
      precision[player][other] -= weight;
      precision[other][player] -= weight;
    }
    const inverse = invert(precision);
    const step = inverse.map((row) => row.reduce((sum, one, j) => sum + one * gradient[j], 0));
    step.forEach((one, i) => {
      ratings[i] += Math.max(-LARGEST_STEP, Math.min(LARGEST_STEP, one));
    });
    if (step.every((one) => Math.abs(one) < 1e-6)) break;
  }
  const covariance = invert(precision);
  return ratings.map((elo, i) => ({ elo, error: 1.96 * Math.sqrt(covariance[i][i]) }));
}

/** Gauss-Jordan elimination. The matrices here are positive definite, so no pivot is zero. */
function invert(matrix) {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let pivot = 0; pivot < size; pivot++) {
    const scale = rows[pivot][pivot];
    rows[pivot] = rows[pivot].map((value) => value / scale);
    for (let i = 0; i < size; i++) {
      if (i === pivot) continue;
      const factor = rows[i][pivot];
      rows[i] = rows[i].map((value, j) => value - factor * rows[pivot][j]);
    }
  }
  return rows.map((row) => row.slice(size));
}
