/** One search of a self-play game, kept small until the game is over and its records are written. */

import type { NodeValue, RootSummary } from '../../search/index.js';
import type { SearchedPosition } from '../records/index.js';

export interface SearchRecord extends SearchedPosition {
  /** Plies after the opening's position when the search began, book moves included. */
  readonly ply: number;
  readonly moves: Uint16Array;
  readonly visits: Uint32Array;
  readonly priors: Float32Array;
}

/**
 * @param policyTemperature the temperature of the priors, which is undone (lc0: V6TrainingDataArray::Add)
 * @returns null when the search gives no policy target: there are several moves, and none has a visit
 */
export function createSearchRecord(
  ply: number,
  summary: RootSummary,
  played: number,
  policyTemperature: number,
): SearchRecord | null {
  const { moves } = summary;
  const total = moves.reduce((sum, { visits }) => sum + visits, 0);
  if (total === 0 && moves.length > 1) return null;
  const best = moves[summary.best];
  const playedMove = moves.find(({ move }) => move === played) ?? best;
  return {
    ply,
    moves: Uint16Array.from(moves, ({ move }) => move),
    visits: Uint32Array.from(moves, ({ visits }) => visits),
    priors: Float32Array.from(moves, ({ prior }) => prior ** policyTemperature),
    rootVisits: summary.visits,
    best: best.move,
    played,
    // A proven draw or loss is proven best only when all other moves are proven too.
    isBestProven: best.isProven && (best.wl >= 1 || moves.every(({ isProven }) => isProven)),
    root: pickValues(summary),
    bestValue: pickValues(best),
    playedValue: pickValues(playedMove),
    network: summary.own,
  };
}

function pickValues({ wl, d, m }: NodeValue): NodeValue {
  return { wl, d, m };
}
