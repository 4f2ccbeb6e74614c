/**
 * What the records of self-play teach the policy, after KataGo (D. Wu, "Accelerating Self-Play Learning in Go", 3.2, and
 * docs/KataGoMethods.md, "Policy Surprise Weighting").
 */

import type { Prng } from '../../base/util/index.js';
import { computeExploration, getPuctParams, type RootSummary, type SearchParams } from '../../search/index.js';
import type { SearchRecord } from './search-record.js';

/**
 * Removes visits that only noise or forced playouts explain: from every move but the most visited one, as long as PUCT with the
 * network's own priors would still prefer the most visited one. A move that is left with one visit loses it too.
 * @param summary with the noise out of the priors
 * @returns the summary with fewer visits of moves; under sequential halving, which does not follow PUCT, the same
 */
export function prunePolicyTarget(summary: RootSummary, params: SearchParams): RootSummary {
  const { moves } = summary;
  if (params.sequentialHalving) return summary;
  const most = moves.reduce((best, move) => (move.visits > best.visits ? move : best));
  const exploration = computeExploration(summary.visits, getPuctParams(params, true));
  const limit = most.wl + (exploration * most.prior) / (1 + most.visits);
  const prune = (move: (typeof moves)[number]): number => {
    if (move === most || move.visits === 0 || move.wl >= limit) return move.visits;
    const fewest = Math.max(0, Math.ceil((exploration * move.prior) / (limit - move.wl) - 1));
    if (fewest >= move.visits) return move.visits;
    return fewest <= 1 ? 0 : fewest;
  };
  return { ...summary, moves: moves.map((move) => ({ ...move, visits: prune(move) })) };
}

/**
 * Repeats surprising records and leaves out others, so that a game keeps its number of records on average: each has the
 * weight 1 − share + share · n · KL / ΣKL, n being the number of records, and KL the divergence of its target from its prior.
 * @param random draws the fractions of weights
 */
export function weighBySurprise(records: readonly SearchRecord[], share: number, random: Prng): SearchRecord[] {
  const surprises = records.map(computeSurprise);
  const total = surprises.reduce((sum, surprise) => sum + surprise, 0);
  if (!(total > 0)) return [...records];
  return records.flatMap((record, i) => {
    const weight = 1 - share + (share * records.length * surprises[i]) / total;
    const copies = Math.floor(weight) + Number(random.nextFloat() < weight % 1);
    return new Array<SearchRecord>(copies).fill(record);
  });
}

/** KL divergence of the visits' shares from the normalised priors, in nats. */
function computeSurprise({ visits, priors }: SearchRecord): number {
  const allVisits = visits.reduce((sum, n) => sum + n, 0);
  const allPriors = priors.reduce((sum, p) => sum + p, 0);
  let surprise = 0;
  for (let i = 0; i < visits.length; i++) {
    if (visits[i] === 0) continue;
    const target = visits[i] / allVisits;
    surprise += target * Math.log(target / Math.max(priors[i] / allPriors, 1e-8));
  }
  return Math.max(0, surprise);
}
