/**
 * lc0's instant searches (lc0: search/instamove). `policyhead` evaluates the root and plays the move with the largest prior;
 * `valuehead` also evaluates the position after every move and plays the move with the best value. Both run as ordinary
 * searches with an empty tree and few visits, so reports, draws and tablebases work as in every search.
 */
import type { SearchParams } from './protocol/params.js';
import type { SearchLimits } from './protocol/search-protocol.js';

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

/**
 * Drops every limit of the search's length: nodes, playouts, depth, mate and time. An instant search always evaluates what it must, as
 * in lc0; what remains says which moves it may play and what it reports.
 */
export function dropLengthLimits(limits: SearchLimits): SearchLimits {
  const { nodes, playouts, depth, mate, budgetMs, clock, ...rest } = limits;
  return rest;
}

/** Visits of the root that such a search makes, Infinity for any other. @param moves that may be played; 0 = not known yet */
export function countInstantVisits({ search }: SearchParams, moves: number): number {
  if (search === 'policyhead') return 1;
  return search === 'valuehead' ? 1 + moves : Number.POSITIVE_INFINITY;
}
