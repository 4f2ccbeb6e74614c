/**
 * Chooses the move of a labelled game. With best play only, a network would see few mistakes and would not learn to punish
 * them. So games wander: some moves are chosen at random among the scored ones (weight exp(−loss / temperature)), and a few
 * among all legal ones.
 */
import type { Prng } from '../../util/index.js';

export interface ScoredMove {
  readonly move: string;
  /** Coded centipawns of the mover, see encodeScore. */
  readonly score: number;
}

export interface WanderRates {
  readonly wander: number;
  readonly blunder: number;
  readonly temperatureCp: number;
}

/**
 * @param scored best first, not empty
 * @param legal all legal moves
 */
export function chooseWanderingMove(
  prng: Prng,
  scored: readonly ScoredMove[],
  legal: readonly string[],
  rates: WanderRates,
): string {
  const dice = prng.nextFloat();
  if (dice < rates.blunder) return legal[prng.nextBelow(legal.length)];
  if (dice >= rates.blunder + rates.wander) return scored[0].move;
  const weights = scored.map(({ score }) => Math.exp((score - scored[0].score) / rates.temperatureCp));
  let rest = prng.nextFloat() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < scored.length; i++) {
    rest -= weights[i];
    if (rest < 0) return scored[i].move;
  }
  return scored[0].move;
}
