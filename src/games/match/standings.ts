/** The score of two players against each other, kept up to date game by game from the first player's view. */
import { countWhiteHalfPoints, type EndReason, type GameEnd } from '../play/index.js';
import { distributeResults, type GameCounts, type PairCounts, type ScoreDistribution } from '../statistics/index.js';
import { isFirstPlayerWhite } from './schedule.js';

/** Games that a player lost on time, by a crash or by an illegal move. */
export interface Forfeits {
  readonly time: number;
  readonly crash: number;
  readonly illegalMove: number;
}

export const NO_FORFEITS: Forfeits = { time: 0, crash: 0, illegalMove: 0 };

const FORFEIT_REASONS: ReadonlyMap<EndReason, keyof Forfeits> = new Map([
  ['time', 'time'],
  ['crash', 'crash'],
  ['illegal-move', 'illegalMove'],
]);

export function addForfeits(a: Forfeits, b: Forfeits): Forfeits {
  return { time: a.time + b.time, crash: a.crash + b.crash, illegalMove: a.illegalMove + b.illegalMove };
}

export class Standings {
  private readonly halfPoints = new Map<number, 0 | 1 | 2>();
  private readonly pairs = [0, 0, 0, 0, 0];
  private readonly byColor = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  private readonly reasons = new Map<EndReason, number>();
  private readonly faults: [Forfeits, Forfeits] = [NO_FORFEITS, NO_FORFEITS];

  /** @param game its number among the games of these two players */
  add(game: number, end: GameEnd): void {
    const white = countWhiteHalfPoints(end.result);
    const points = (isFirstPlayerWhite(game) ? white : 2 - white) as 0 | 1 | 2;
    this.halfPoints.set(game, points);
    this.byColor[game & 1][points]++;
    this.reasons.set(end.reason, (this.reasons.get(end.reason) ?? 0) + 1);
    const fault = FORFEIT_REASONS.get(end.reason);
    const loser = points === 0 ? 0 : 1;
    if (fault !== undefined) this.faults[loser] = addForfeits(this.faults[loser], { ...NO_FORFEITS, [fault]: 1 });
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

  get forfeits(): readonly [first: Forfeits, second: Forfeits] {
    return [...this.faults];
  }

  get pairCounts(): PairCounts {
    const [a, b, c, d, e] = this.pairs;
    return [a, b, c, d, e];
  }

  get reasonCounts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.reasons].sort(([, a], [, b]) => b - a));
  }

  get distribution(): ScoreDistribution {
    return distributeResults(this.games, this.pairCounts);
  }
}
