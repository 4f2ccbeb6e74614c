/** The score of a match, kept up to date game by game from the first player's view. */
import { countWhiteHalfPoints, type EndReason, type GameEnd } from '../game/game-end.js';
import {
  distributeGames,
  distributePairs,
  type GameCounts,
  type PairCounts,
  type ScoreDistribution,
} from '../statistics/score-counts.js';

/** Games 2k and 2k + 1 are a pair: one opening, colours swapped; the first player is White in game 2k. */
export function isFirstPlayerWhite(game: number): boolean {
  return (game & 1) === 0;
}

export class Standings {
  private readonly halfPoints = new Map<number, 0 | 1 | 2>();
  private readonly pairs = [0, 0, 0, 0, 0];
  private readonly byColor = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  private readonly reasons = new Map<EndReason, number>();

  add(game: number, end: GameEnd): void {
    const white = countWhiteHalfPoints(end.result);
    const points = (isFirstPlayerWhite(game) ? white : 2 - white) as 0 | 1 | 2;
    this.halfPoints.set(game, points);
    this.byColor[game & 1][points]++;
    this.reasons.set(end.reason, (this.reasons.get(end.reason) ?? 0) + 1);
    const other = this.halfPoints.get(game ^ 1);
    if (other !== undefined) this.pairs[points + other]++;
  }

  has(game: number): boolean {
    return this.halfPoints.has(game);
  }

  get played(): number {
    return this.halfPoints.size;
  }

  get games(): GameCounts {
    const [white, black] = this.byColor;
    return { losses: white[0] + black[0], draws: white[1] + black[1], wins: white[2] + black[2] };
  }

  /** With the first player as White, and as Black. */
  get gamesByColor(): readonly [white: GameCounts, black: GameCounts] {
    const [white, black] = this.byColor.map(([losses, draws, wins]) => ({ wins, draws, losses }));
    return [white, black];
  }

  get pairCounts(): PairCounts {
    return [...this.pairs] as unknown as PairCounts;
  }

  get reasonCounts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.reasons].sort(([, a], [, b]) => b - a));
  }

  /** The complete pairs, which say more than as many single games; the single games until there is a pair. */
  get distribution(): ScoreDistribution {
    const complete = this.pairs.reduce((sum, count) => sum + count, 0);
    return complete > 0 ? distributePairs(this.pairCounts) : distributeGames(this.games);
  }
}
