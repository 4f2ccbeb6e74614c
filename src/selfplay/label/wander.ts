/**
 * Which move a labelled game plays. Best play alone would show a network few kinds of mistakes to punish, so games
 * wander: now and then a move is drawn from the scored ones (weight exp(−loss / temperature)), rarely any legal move.
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
