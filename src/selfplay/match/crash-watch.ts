/**
 * Notices a player that does nothing but crash, whose losses say nothing about chess. One crash in a long match is a game
 * lost; several in a row, without a game played to its end in between, are an engine that does not work.
 */
import type { GameEnd } from '../game/game-end.js';
import { isFirstPlayerWhite } from './standings.js';

/** Games that a player may lose by crashing, one after the other, until it counts as broken. */
export const MOST_CRASHES = 3;

export class CrashWatch {
  private readonly inARow: [number, number] = [0, 0];

  /** @returns the player (0 or 1) that has crashed once too often; null while both can play */
  add(game: number, { result, reason }: GameEnd): 0 | 1 | null {
    if (reason !== 'crash') {
      this.inARow.fill(0);
      return null;
    }
    // Its opponent has finished nothing either: two that crash in turn are found out as well.
    const loser = isFirstPlayerWhite(game) === (result === '0-1') ? 0 : 1;
    this.inARow[loser]++;
    return this.inARow[loser] >= MOST_CRASHES ? loser : null;
  }
}
