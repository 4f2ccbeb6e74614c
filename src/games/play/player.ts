/**
 * A player chooses the moves of one side of a match: an engine process, a network inside this process, or a random
 * mover. A player plays one game at a time.
 */

import type { TimeControl } from './clock.js';
import type { Game, Thought } from './game.js';

export interface PlayerLimits {
  readonly timeControl: TimeControl | null;
  readonly movetimeMs: number | null;
  readonly nodes: number | null;
  readonly depth: number | null;
}

/** The state of both clocks when a player begins to think; null entries have no clock. */
export interface ThinkingTime {
  readonly remainingMs: readonly [white: number | null, black: number | null];
  readonly incrementMs: readonly [white: number, black: number];
  readonly movesToGo: number | null;
}

export interface Player {
  readonly name: string;
  readonly limits: PlayerLimits;
  /** @param seed seed of random choices; the same for the same game */
  startGame(seed: number): Promise<void>;
  /** Throws a PlayerFault when the player forfeits the game. */
  think(game: Game, time: ThinkingTime): Promise<Thought>;
  close(): Promise<void>;
}

/** Creates players: one for every game that runs at the same time. */
export interface PlayerSource {
  readonly name: string;
  readonly limits: PlayerLimits;
  create(): Promise<Player>;
}

export class PlayerFault extends Error {
  override readonly name = 'PlayerFault';
  constructor(
    readonly reason: 'time' | 'illegal-move' | 'crash',
    message: string,
  ) {
    super(message);
  }
}
