/**
 * Who plays whom in which game. Players are numbered from 0. Each pairing plays pairs of games: one opening, colours
 * swapped. All pairings play the same opening in the same round, so that no pairing has easier ones.
 *
 * Game numbers run through the rounds: round r of P pairings has the games 2rP … 2rP + 2P − 1. These numbers do not depend on
 * the number of games, so a match can be made longer.
 */

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
