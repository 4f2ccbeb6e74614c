/**
 * Decides when a side resigns a self-play game, and measures how often that would be wrong (lc0: selfplay/game.cc). Some games
 * ignore the rule. For each of them it reports the lowest win probability that the eventual winner (or either side of a draw)
 * had during the game: with a threshold above it, that side would have resigned wrongly.
 */
import type { ResultText } from '../game/game-end.js';

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
