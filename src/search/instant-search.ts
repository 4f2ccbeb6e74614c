/**
 * lc0's searches of one look at the network (lc0: search/instamove). `policyhead` plays the move with the largest prior;
 * `valuehead` looks once at every position one move ahead and plays the move whose position is worth most. Both are searches
 * of the tree with a small budget and an empty tree, so reports, draws and tablebases work as in every search.
 */
import type { SearchParams } from './params.js';

/** Above every value, so that each move is visited once before any is visited twice. */
const ABOVE_ALL = 100;

export function isInstant({ search }: SearchParams): boolean {
  return search === 'policyhead' || search === 'valuehead';
}

/** The parameters that such a search needs; others stay as they are. */
export function adaptToInstant(params: SearchParams): SearchParams {
  if (!isInstant(params)) return params;
  return {
    ...params,
    smartPruningFactor: 0,
    minimumKldGainPerNode: 0,
    sequentialHalving: false,
    fpuStrategyAtRoot: 'absolute',
    fpuValueAtRoot: ABOVE_ALL,
  };
}

/** Visits of the root that such a search makes, Infinity for any other. @param moves that may be played; 0 = not known yet */
export function countInstantVisits({ search }: SearchParams, moves: number): number {
  if (search === 'policyhead') return 1;
  return search === 'valuehead' ? 1 + moves : Number.POSITIVE_INFINITY;
}
