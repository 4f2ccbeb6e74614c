/** How self-play games are played. Names and defaults are lc0's (selfplay/tournament.cc, game.cc) where it has them. */
import type { ResignRules } from './resignation.js';

export interface MoveLimits {
  /** Visits of the root, reused ones included; null = none. */
  readonly visits: number | null;
  /** New playouts a move. */
  readonly playouts: number | null;
  readonly movetimeMs: number | null;
}

/**
 * Playout cap randomisation (D. Wu, "Accelerating Self-Play Learning in Go", 3.1): most moves get a quick search
 * without noise that only moves the game on; the others get the full search and become training records.
 */
export interface PlayoutCap {
  /** Share of moves that get the full search; 1 = all. */
  readonly fullShare: number;
  /** Visits of the others. */
  readonly fastVisits: number;
}

export interface SelfPlaySettings {
  readonly playoutCap: PlayoutCap;
  readonly reusesTree: boolean;
  /** One tree for both sides, when both play alike. */
  readonly sharesTree: boolean;
  readonly resign: ResignRules;
  /** A drawn move with fewer visits is drawn again, unless it is the most visited. */
  readonly minimumAllowedVisits: number;
  /** Per cent of games that start where a move was refused for too few visits. */
  readonly discardedStartChance: number;
  /** Chance of leaving the opening at each of its moves. */
  readonly openingStopProbability: number;
  /** Records leave out the visits that only root noise or forced playouts explain. */
  readonly prunesPolicyTarget: boolean;
  /** Share of the weight of a game's records that goes by the surprise of the policy; 0 = all records count alike. */
  readonly policySurprise: number;
  readonly maxPlies: number;
  readonly chess960: boolean;
}

export const LONGEST_GAME = 450;
