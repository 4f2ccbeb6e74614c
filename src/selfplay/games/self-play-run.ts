/**
 * A run of self-play: many games at once over one pool of evaluators (or two, when two networks play), each game a
 * function of the seed and its number. Finished games are handed on in the order in which they end.
 */

import { SearchScheduler } from '../../search/index.js';
import type { Tablebases } from '../../syzygy/index.js';
import { createPrng, type Prng } from '../../util/index.js';
import { mixSeeds } from '../mix-seeds.js';
import { GameSearch } from '../network/game-search.js';
import type { NetworkPool, NetworkPools, NetworkSetup } from '../network/network-setup.js';
import type { Opening } from '../openings/opening.js';
import {
  playSelfPlayGame,
  type SelfPlayGame,
  type SelfPlaySide,
  shortenOpening,
  type Thought,
} from './self-play-game.js';
import type { MoveLimits, SelfPlaySettings } from './self-play-settings.js';

export interface SelfPlayPlayer {
  readonly network: NetworkSetup;
  readonly limits: MoveLimits;
}

export interface SelfPlayRun {
  /** The same object twice for play of one network against itself. */
  readonly players: readonly [SelfPlayPlayer, SelfPlayPlayer];
  readonly settings: SelfPlaySettings;
  /** End games where they know the result; null = none. */
  readonly tables: Tablebases | null;
  /** Games in all; Infinity = until the signal comes. */
  readonly games: number;
  /** Games at a time; 0 = what suits the evaluators. */
  readonly parallelism: number;
  /** Leaves that one game gathers together; 0 = as many as keep the evaluators busy. */
  readonly leavesPerGame: number;
  readonly openings: (game: number) => Opening;
  readonly seed: number;
  /** Games of earlier runs, which are not played again. */
  readonly isDone: (game: number) => boolean;
  readonly signal: AbortSignal;
  /** Awaited, so that slow disks slow the games down instead of filling the memory. */
  onGame(index: number, game: SelfPlayGame): Promise<void>;
  /** Told of each move when it is drawn. */
  onThought(index: number, thought: Thought): void;
}

const REFUSED_KEPT = 10_000;
const BYTES_PER_TREE = 256 * 2 ** 20;
/** A tree of the visits of one move rarely needs more nodes than this factor gives, and it can grow. */
const NODES_PER_VISIT = 1.25;
const LEAST_NODES = 256;
/** Batches that should wait for each evaluator thread while it works on one. */
const BATCHES_AHEAD = 2;
const LEAST_GAMES = 8;
const MOST_GAMES = 512;

/** Player 1 has White in even games. */
export function isPlayer1White(game: number): boolean {
  return (game & 1) === 0;
}

/** Resolves when the games are played; rejects when a network cannot be used. */
export async function runSelfPlay(run: SelfPlayRun, pools: NetworkPools): Promise<void> {
  const { players } = run;
  const scheduler = new SearchScheduler();
  const opened = await Promise.all(players.map(({ network }) => pools.open(network)));
  const refused: Opening[] = [];
  let next = 0;
  const takeGame = (): number | null => {
    while (next < run.games && run.isDone(next)) next++;
    return run.signal.aborted || next >= run.games ? null : next++;
  };
  const isOneMind = players[0] === players[1] && run.settings.sharesTree;
  const boards = Math.min(run.parallelism > 0 ? run.parallelism : computeParallelism(opened), run.games);
  await Promise.all(
    Array.from({ length: boards }, async () => {
      const random = new GamePrng();
      const createSide = (player: 0 | 1): SelfPlaySide => {
        const { network, limits } = players[player];
        const { queue } = opened[player];
        const wanted = (BATCHES_AHEAD * queue.workers * queue.minibatch) / boards;
        const leaves = run.leavesPerGame > 0 ? run.leavesPerGame : Math.max(1, Math.ceil(wanted));
        const visits = Math.max(limits.visits ?? 0, limits.playouts ?? 0);
        const search = new GameSearch({
          pool: opened[player],
          scheduler,
          params: network.params,
          batching: { minibatch: leaves, batchesInFlight: 1 },
          random,
          initialNodes: Math.ceil(Math.max(LEAST_NODES, NODES_PER_VISIT * visits)),
          maxBytes: BYTES_PER_TREE,
        });
        return { search, limits, params: network.params, policyTemperature: network.pool.policyTemperature ?? 1 };
      };
      const first = createSide(0);
      const second = isOneMind ? first : createSide(1);
      for (let game = takeGame(); game !== null; game = takeGame()) {
        random.restart(mixSeeds(run.seed, game));
        const opening = chooseOpening(run, game, random, refused);
        const board = {
          sides: isPlayer1White(game) ? ([first, second] as const) : ([second, first] as const),
          settings: run.settings,
          tables: run.tables,
          opening,
          random,
          onDiscard: (line: Opening) => keepRefused(run.settings, refused, line, random),
          onThought: (thought: Thought) => run.onThought(game, thought),
        };
        const finished = await playSelfPlayGame(board, run.signal);
        if (finished === null) return;
        await run.onGame(game, finished);
      }
    }),
  );
}

/** So many games that each needs to gather one leaf at a time. */
function computeParallelism(pools: readonly NetworkPool[]): number {
  const leaves = Math.max(...pools.map(({ queue }) => BATCHES_AHEAD * queue.workers * queue.minibatch));
  return Math.max(LEAST_GAMES, Math.min(MOST_GAMES, leaves));
}

function chooseOpening(run: SelfPlayRun, game: number, random: Prng, refused: Opening[]): Opening {
  const { discardedStartChance, openingStopProbability } = run.settings;
  if (discardedStartChance > 0 && refused.length > 0 && random.nextFloat() * 100 < discardedStartChance) {
    return refused.splice(random.nextBelow(refused.length), 1)[0];
  }
  return shortenOpening(run.openings(game), openingStopProbability, random);
}

function keepRefused(settings: SelfPlaySettings, refused: Opening[], opening: Opening, random: Prng): void {
  if (settings.discardedStartChance === 0) return;
  if (refused.length < REFUSED_KEPT) refused.push(opening);
  else refused[random.nextBelow(refused.length)] = opening;
}

/** The random numbers of a board: a stream of its own for every game. */
class GamePrng implements Prng {
  private stream = createPrng(0);

  restart(seed: number): void {
    this.stream = createPrng(seed);
  }

  next32(): number {
    return this.stream.next32();
  }

  nextFloat(): number {
    return this.stream.nextFloat();
  }

  nextBelow(bound: number): number {
    return this.stream.nextBelow(bound);
  }
}
