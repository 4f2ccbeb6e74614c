/**
 * The results of a match of two or more players: the standings of every pairing, filled game by game. Also here: the score of two
 * players, and who plays whom in which game.
 */
import { countWhiteHalfPoints, type EndReason, type GameEnd } from '../play/index.js';
import {
  distributeGames,
  distributePairs,
  type GameCounts,
  type PairCounts,
  type ScoreDistribution,
} from '../statistics/index.js';

// The score of two players against each other, kept up to date game by game from the first player's view.

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

  /** The complete pairs, because they have a smaller variance than single games; the single games until there is a pair. */
  get distribution(): ScoreDistribution {
    const complete = this.pairs.reduce((sum, count) => sum + count, 0);
    return complete > 0 ? distributePairs(this.pairCounts) : distributeGames(this.games);
  }
}

// Who plays whom in which game. Players are numbered from 0. Each pairing plays pairs of games: one opening, colours
// swapped. All pairings play the same opening in the same round, so that no pairing has easier ones.
//
// Game numbers run through the rounds: round r of P pairings has the games 2rP … 2rP + 2P − 1. They do not depend on the
// number of games, so a match can be made longer.

export const TOURNAMENT_KINDS = ['round-robin', 'gauntlet'] as const;
/** Round robin: each plays against each. Gauntlet: the first player plays against all others. */
export type TournamentKind = (typeof TOURNAMENT_KINDS)[number];

export interface ScheduledGame {
  /** Index of the pairing. */
  readonly pairing: number;
  /** Number of the game within its pairing; the pairing's first player has White in even games. */
  readonly numberInPairing: number;
  /** Which opening is played. */
  readonly round: number;
  /** Number of the game within its round, from 0. */
  readonly numberInRound: number;
  readonly white: number;
  readonly black: number;
}

export class Schedule {
  readonly pairings: readonly (readonly [first: number, second: number])[];

  constructor(
    kind: TournamentKind,
    players: number,
    private readonly gamesPerPairing: number,
  ) {
    const pairings: [number, number][] = [];
    for (let first = 0; first < (kind === 'gauntlet' ? 1 : players); first++) {
      for (let second = first + 1; second < players; second++) pairings.push([first, second]);
    }
    this.pairings = pairings;
  }

  get totalGames(): number {
    return this.pairings.length * this.gamesPerPairing;
  }

  /** @param game any number from 0, also one beyond the end */
  at(game: number): ScheduledGame {
    const gamesPerRound = 2 * this.pairings.length;
    const round = Math.floor(game / gamesPerRound);
    const numberInRound = game % gamesPerRound;
    const pairing = numberInRound >> 1;
    const [first, second] = this.pairings[pairing];
    const isFirstWhite = isFirstPlayerWhite(game);
    return {
      pairing,
      numberInPairing: 2 * round + (game & 1),
      round,
      numberInRound,
      white: isFirstWhite ? first : second,
      black: isFirstWhite ? second : first,
    };
  }

  /** The first game from `game` on that is to be played; null when there is none. An odd number of games leaves one pair incomplete. */
  findNext(game: number): number | null {
    const end = 2 * this.pairings.length * Math.ceil(this.gamesPerPairing / 2);
    for (let next = game; next < end; next++) if (this.at(next).numberInPairing < this.gamesPerPairing) return next;
    return null;
  }
}

/** Games 2k and 2k + 1 are a pair: one opening, colours swapped; the first player is White in game 2k. */
export function isFirstPlayerWhite(game: number): boolean {
  return (game & 1) === 0;
}

export class Tournament {
  /** Of each pairing of the schedule. */
  readonly pairings: readonly Standings[];

  constructor(readonly schedule: Schedule) {
    this.pairings = schedule.pairings.map(() => new Standings());
  }

  /** @param game its number in the schedule */
  add(game: number, end: GameEnd): void {
    const { pairing, numberInPairing } = this.schedule.at(game);
    this.pairings[pairing].add(numberInPairing, end);
  }

  has(game: number): boolean {
    const { pairing, numberInPairing } = this.schedule.at(game);
    return this.pairings[pairing].has(numberInPairing);
  }

  get played(): number {
    return this.pairings.reduce((sum, { played }) => sum + played, 0);
  }

  /** Ends of games and how often, the most frequent first. */
  get reasonCounts(): Readonly<Record<string, number>> {
    const sums = new Map<string, number>();
    for (const { reasonCounts } of this.pairings) {
      for (const [reason, count] of Object.entries(reasonCounts)) sums.set(reason, (sums.get(reason) ?? 0) + count);
    }
    return Object.fromEntries([...sums].sort(([, a], [, b]) => b - a));
  }
}

/** After this many losses by crashes in a row a player counts as broken. */
export const MOST_CRASHES = 3;

/**
 * Finds a player that does not work at all. One crash in a long match is a lost game. Several crashes in a row, without a
 * finished game of that player in between, mean that the engine is broken.
 */
export class CrashWatch {
  private readonly inARow = new Map<number, number>();

  /**
   * @param players of the game
   * @param crashed the one that lost it by crashing; null when nobody did
   * @returns the player that has crashed too often; null while both can play
   */
  add(players: readonly [number, number], crashed: number | null): number | null {
    if (crashed === null) {
      for (const player of players) this.inARow.set(player, 0);
      return null;
    }
    // The opponent's count stays: it has not finished the game either. So two engines that crash in turn are found too.
    const count = (this.inARow.get(crashed) ?? 0) + 1;
    this.inARow.set(crashed, count);
    return count >= MOST_CRASHES ? crashed : null;
  }
}
