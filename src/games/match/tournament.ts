/** A match of two or more players: the standings of every pairing, filled game by game, and the watch over players that crash. */
import type { GameEnd } from '../play/index.js';
import type { Schedule } from './schedule.js';
import { Standings } from './standings.js';

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
