/**
 * Creates the players of a match from their specifications: networks, UCI programs, and the random mover, which is defined here.
 */
import { nextTurn } from '#platform/threads.js';
import { createPrng, type Result, success } from '../../base/util/index.js';
import type { Move } from '../../chess/rules/index.js';
import { SearchScheduler } from '../../search/index.js';
import type { Pair } from '../engines/index.js';
import type { Game, Thought } from './game.js';
import { createNetworkSource } from './network-player.js';
import type { NetworkPools, NetworkSetup } from './network-pools.js';
import type { Player, PlayerLimits, PlayerSource } from './player.js';
import type { PlayerSpec } from './player-spec.js';
import { createUciSource, nameEngine } from './uci-player.js';

const NO_LIMITS: PlayerLimits = { timeControl: null, movetimeMs: null, nodes: null, depth: null };

/** Plays random legal moves: an opponent for networks in the first hours of training. */
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
  return { name, limits: NO_LIMITS, create: async () => new RandomPlayer(name) };
}

export interface SourceOptions {
  /** Where the networks are opened; the caller closes them. */
  readonly pools: NetworkPools;
  readonly chess960: boolean;
  readonly concurrency: number;
  /** Reads a network's file and flags. */
  readonly setUpNetwork: (weights: string, flags: readonly Pair[]) => Promise<Result<NetworkSetup>>;
}

export interface PlayerSources {
  readonly players: readonly PlayerSource[];
  /** Digests of the networks of this process, in the players' order. */
  readonly networks: readonly string[];
}

/** Loads the networks of this process; rejects with one sentence for the user when one cannot be used. */
export async function createPlayerSources(
  specs: readonly PlayerSpec[],
  options: SourceOptions,
): Promise<Result<PlayerSources>> {
  const table = {
    pools: options.pools,
    scheduler: new SearchScheduler(),
    concurrency: Math.max(1, options.concurrency),
  };
  // Networks load slowly, so they are loaded last, after errors of the other players would have been found.
  const sources: (() => Promise<PlayerSource>)[] = [];
  const networks: string[] = [];
  for (const spec of specs) {
    if (spec.kind === 'random') sources.push(async () => createRandomSource(spec.name));
    else if (spec.kind === 'uci') {
      const engine = await nameEngine(spec.engine, options.chess960);
      if (!engine.ok) return engine;
      sources.push(async () => createUciSource(engine.value, spec.limits, options.chess960));
    } else {
      const setup = await options.setUpNetwork(spec.weights, spec.options);
      if (!setup.ok) return setup;
      sources.push(async () => {
        const { networkName, weightsDigest } = await table.pools.open(setup.value);
        if (weightsDigest !== null) networks.push(weightsDigest);
        return createNetworkSource(setup.value, spec.name ?? networkName ?? setup.value.name, spec.limits, table);
      });
    }
  }
  const players: PlayerSource[] = [];
  for (const create of sources) players.push(await create());
  return success({ players, networks });
}
