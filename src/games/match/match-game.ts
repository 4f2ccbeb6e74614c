/** One game of a match from its opening to its end. */

import type { Tablebases } from '../../chess/syzygy/index.js';
import type { Opening } from '../openings/index.js';
import {
  type AdjudicationRules,
  adjudicate,
  Clock,
  createWin,
  findEndByLaws,
  findTablebaseEnd,
  Game,
  type GameEnd,
  type PlayedMove,
  type Player,
  PlayerFault,
} from '../play/index.js';

export interface GameSetup {
  readonly opening: Opening;
  readonly chess960: boolean;
  readonly rules: AdjudicationRules;
  /** Tablebases that end the game when they have its position; null = none. */
  readonly tables: Tablebases | null;
  /** Milliseconds by which a player may exceed the clock. */
  readonly timeMarginMs: number;
  readonly seed: number;
  /** Called before the first move after the opening and after each move. @param remainingMs null without a clock */
  readonly onPosition?:
    | ((game: Game, remainingMs: readonly [white: number | null, black: number | null]) => void)
    | undefined;
}

export interface FinishedGame {
  readonly played: readonly PlayedMove[];
  readonly end: GameEnd;
  /** If the game was lost by a crash, on time or by an illegal move, one sentence about it; else empty. */
  readonly fault: string;
}

/** @returns null if the signal came before the end */
export async function playGame(
  players: readonly [white: Player, black: Player],
  setup: GameSetup,
  signal: AbortSignal,
): Promise<FinishedGame | null> {
  const game = new Game(setup.opening, setup.chess960);
  const bookPlies = setup.opening.moves.length;
  const startPly = game.position.gamePly - bookPlies;
  const clocks = players.map(({ limits }) => (limits.timeControl === null ? null : new Clock(limits.timeControl)));
  const getRemainingMs = (): [number | null, number | null] => [
    clocks[0]?.remainingMs ?? null,
    clocks[1]?.remainingMs ?? null,
  ];
  const starts = await Promise.allSettled(players.map((player, color) => player.startGame(2 * setup.seed + color)));
  for (const [color, start] of starts.entries()) {
    if (start.status === 'fulfilled') continue;
    return signal.aborted ? null : forfeit(game, color, start.reason);
  }

  for (;;) {
    setup.onPosition?.(game, getRemainingMs());
    const end =
      findEndByLaws(game.position) ??
      findTablebaseEnd(setup.tables, game.position) ??
      adjudicate(setup.rules, game.played, bookPlies, startPly);
    if (end !== null) return { played: game.played, end, fault: '' };
    if (signal.aborted) return null;
    const mover = game.position.sideToMove;
    const startedAt = performance.now();
    try {
      const thought = await players[mover].think(game, {
        remainingMs: getRemainingMs(),
        incrementMs: [clocks[0]?.control.incrementMs ?? 0, clocks[1]?.control.incrementMs ?? 0],
        movesToGo: clocks[mover]?.movesToGo ?? null,
      });
      const timeMs = thought.timeMs ?? performance.now() - startedAt;
      if (clocks[mover]?.press(timeMs, setup.timeMarginMs) === false) {
        throw new PlayerFault('time', `${players[mover].name} used ${Math.round(timeMs)} ms and lost on time`);
      }
      game.play({ ...thought, timeMs });
    } catch (error) {
      if (signal.aborted) return null;
      return forfeit(game, mover, error);
    }
  }
}

/** Throws errors that are not the player's fault. */
function forfeit(game: Game, loser: number, error: unknown): FinishedGame {
  if (!(error instanceof PlayerFault)) throw error;
  return { played: game.played, end: createWin(loser === 0 ? 1 : 0, error.reason), fault: error.message };
}
