/** How self-play games are played. Names and defaults are lc0's (selfplay/tournament.cc, game.cc) where it has them. */
import type { ResultText } from '../play/index.js';

// Decides when a side resigns a self-play game, and measures how often that would be wrong (lc0: selfplay/game.cc). Some games
// ignore the rule. For each of them it reports the lowest win probability that the eventual winner (or either side of a draw)
// had during the game: with a threshold above it, that side would have resigned wrongly.

export interface ResignRules {
  /** Win probability in per cent below which the mover resigns; 0 = never. */
  readonly percentage: number;
  /** End the game, instead, as soon as a win, draw or loss is more probable than 100 − percentage. */
  readonly isWdlStyle: boolean;
  readonly earliestMove: number;
  /** Per cent of games that ignore the rule. */
  readonly playthrough: number;
}

export class ResignWatch {
  /** Smallest win probability of each side, counting a draw as half. */
  private readonly worst = [1, 1];
  /** Largest probability of a white win, a draw, a black win. */
  private readonly surest = [0, 0, 0];

  constructor(
    private readonly rules: ResignRules,
    private readonly isEnabled: boolean,
  ) {}

  /**
   * @param wl, d of the best move, in the mover's view
   * @returns the result, if the game ends here
   */
  look(mover: 0 | 1, moveNumber: number, wl: number, d: number): ResultText | null {
    const score = (wl + 1) / 2;
    const win = (wl + 1 - d) / 2;
    const loss = win - wl;
    this.worst[mover] = Math.min(this.worst[mover], score);
    const byColor = mover === 0 ? [win, d, loss] : [loss, d, win];
    for (let i = 0; i < 3; i++) this.surest[i] = Math.max(this.surest[i], byColor[i]);

    const { percentage, isWdlStyle, earliestMove } = this.rules;
    if (!this.isEnabled || moveNumber < earliestMove) return null;
    const won = mover === 0 ? '1-0' : '0-1';
    const lost = mover === 0 ? '0-1' : '1-0';
    if (!isWdlStyle) return score < percentage / 100 ? lost : null;
    const threshold = 1 - percentage / 100;
    if (win > threshold) return won;
    if (loss > threshold) return lost;
    return d > threshold ? '1/2-1/2' : null;
  }

  /** The lowest win probability of a side that did not lose; with the WDL rule, the highest probability of a wrong result. */
  getFalsePositiveThreshold(result: ResultText): number {
    const [white, draw, black] = this.surest;
    if (this.rules.isWdlStyle) {
      if (result === '1-0') return Math.max(draw, black);
      return result === '0-1' ? Math.max(draw, white) : Math.max(white, black);
    }
    if (result === '1-0') return this.worst[0];
    return result === '0-1' ? this.worst[1] : Math.min(this.worst[0], this.worst[1]);
  }
}

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
