/** Plays random legal moves: an opponent for networks in the first hours of training. */
import { nextTurn } from '#platform/threads.js';
import type { Move } from '../../chess/index.js';
import { createPrng } from '../../util/index.js';
import type { Game, Thought } from '../game/game.js';
import type { Player, PlayerLimits, PlayerSource } from './player.js';

const NO_LIMITS: PlayerLimits = { timeControl: null, movetimeMs: null, nodes: null, depth: null };

class RandomPlayer implements Player {
  readonly limits = NO_LIMITS;
  private readonly prng = createPrng(0);
  private readonly legal = new Uint16Array(256);

  constructor(readonly name: string) {}

  async startGame(seed: number): Promise<void> {
    this.prng.restart(seed);
    // Two random movers never wait for I/O. Without yielding to the event loop, signals such as Ctrl-C would not arrive.
    await nextTurn();
  }

  async think(game: Game): Promise<Thought> {
    const count = game.position.generateLegalMoves(this.legal);
    const move = this.legal[this.prng.nextBelow(count)] as Move;
    return { move, score: null, depth: 0, nodes: 0, timeMs: null };
  }

  async close(): Promise<void> {}
}

export function createRandomSource(name: string): PlayerSource {
  return { name, limits: NO_LIMITS, create: async () => new RandomPlayer(name), close: async () => undefined };
}
