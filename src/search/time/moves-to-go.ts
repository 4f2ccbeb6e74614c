/**
 * How many moves a game still lasts. The lengths of chess games follow a log-logistic distribution; this is its median
 * residual life (El-Taha and Clark, "Some Useful Properties of Log-Logistic Random Variables for Health Care
 * Simulations", 2015), as in lc0's legacy.cc.
 */

/**
 * @param gamePly plies played so far
 * @param midpoint median game length in moves
 * @param steepness how sharply the estimate falls around the midpoint
 */
export function estimateMovesToGo(gamePly: number, midpoint: number, steepness: number): number {
  const move = gamePly / 2;
  return midpoint * (1 + 2 * (move / midpoint) ** steepness) ** (1 / steepness) - move;
}

/** The estimate, or the moves to the next time control where the GUI said so and that is sooner. Always ≥ 1. */
export function computeMovesToGo(
  gamePly: number,
  movesToGo: number | undefined,
  midpoint: number,
  steepness: number,
): number {
  const estimate = estimateMovesToGo(gamePly, midpoint, steepness);
  const moves = movesToGo !== undefined && movesToGo > 0 ? Math.min(movesToGo, estimate) : estimate;
  return Math.max(1, moves);
}
