/**
 * A run of self-play: many games at once over one pool of evaluators (or two, when two networks play). Each game depends only
 * on the seed and its number. With --discarded-start-chance, where refused moves start games, it also depends on the games
 * before it. Finished games are passed on in the order in which they end.
 */

import { createPrng, mixSeeds, type Prng, runSideBySide } from '../../base/util/index.js';
import type { Tablebases } from '../../chess/syzygy/index.js';
import { countBusyLeaves } from '../../networks/leaves/index.js';
import { SearchScheduler } from '../../search/index.js';
import { isFirstPlayerWhite } from '../match/index.js';
import type { Opening } from '../openings/index.js';
import { GameSearch, type NetworkPool, type NetworkPools, type NetworkSetup } from '../play/index.js';
import {
  playSelfPlayGame,
  type SearchedMove,
  type SelfPlayBoard,
  type SelfPlayGame,
  type SelfPlaySide,
  shortenOpening,
} from './self-play-game.js';
import type { MoveLimits, SelfPlaySettings } from './self-play-settings.js';

export interface SelfPlayPlayer {
  readonly network: NetworkSetup;
  readonly limits: MoveLimits;
  /** Its settings with Black, if they differ. */
  readonly asBlack?: SelfPlayPlayer;
}

export interface SelfPlayRun {
  /** The same object twice if one network plays against itself. */
  readonly players: readonly [SelfPlayPlayer, SelfPlayPlayer];
  readonly settings: SelfPlaySettings;
  /** Tablebases that end games when they know the result; null = none. */
  readonly tables: Tablebases | null;
  /** Games in all; Infinity = until the signal comes. */
  readonly games: number;
  /** Games at a time; 0 = chosen for the evaluators. */
  readonly parallelism: number;
  /** Leaves that one game gathers together; 0 = enough to keep the evaluators busy. */
  readonly leavesPerGame: number;
  readonly openings: (game: number) => Opening;
  readonly seed: number;
  /** Games of earlier runs, which are not played again. */
  readonly isDone: (game: number) => boolean;
  readonly signal: AbortSignal;
  /** Awaited, so that slow disks slow the games down instead of filling the memory. */
  onGame(index: number, game: SelfPlayGame): Promise<void>;
  /** Called with each move when it is drawn. */
  onThought(index: number, thought: SearchedMove): void;
}

const REFUSED_KEPT = 10_000;
const BYTES_PER_TREE = 256 * 2 ** 20;
/** A tree of the visits of one move rarely needs more nodes than this factor gives, and it can grow. */
const NODES_PER_VISIT = 1.25;
const LEAST_NODES = 256;
const LEAST_GAMES = 8;
const MOST_GAMES = 512;

/**
 * Resolves when the games are played or the signal has come; rejects when a network cannot be used, and with the first error of
 * a game. In all cases no search is running afterwards.
 */
export async function runSelfPlay(run: SelfPlayRun, pools: NetworkPools): Promise<void> {
  const opened = await openPlayers(run.players, pools);
  const failure = new AbortController();
  const signal = AbortSignal.any([run.signal, failure.signal]);
  const boards = Math.min(run.parallelism > 0 ? run.parallelism : computeParallelism([...opened.values()]), run.games);
  const tournament = new Tournament(run, opened, boards, signal);
  signal.addEventListener('abort', () => tournament.stopSearches());
  await runSideBySide(
    boards,
    () => tournament.playBoard(),
    () => failure.abort(),
  );
}

/** The players, and again those that play Black otherwise. */
export function listPlayers(players: readonly SelfPlayPlayer[]): SelfPlayPlayer[] {
  return players.flatMap((player) => (player.asBlack === undefined ? [player] : [player, player.asBlack]));
}

/** Opens the networks of all players, or finds them open. */
export async function openPlayers(
  players: readonly SelfPlayPlayer[],
  pools: NetworkPools,
): Promise<ReadonlyMap<NetworkSetup, NetworkPool>> {
  const opened = new Map<NetworkSetup, NetworkPool>();
  for (const { network } of listPlayers(players)) opened.set(network, await pools.open(network));
  return opened;
}

/** The boards of a run and what they share. */
class Tournament {
  private readonly scheduler = new SearchScheduler();
  private readonly searches: GameSearch[] = [];
  private readonly refused: Opening[] = [];
  private nextGame = 0;

  constructor(
    private readonly run: SelfPlayRun,
    private readonly pools: ReadonlyMap<NetworkSetup, NetworkPool>,
    private readonly boards: number,
    private readonly signal: AbortSignal,
  ) {}

  stopSearches(): void {
    for (const search of this.searches) search.stop();
  }

  /** Plays games one after another while there are any. */
  async playBoard(): Promise<void> {
    const { run, refused, signal } = this;
    const { players, settings, tables } = run;
    const random = createPrng(0);
    const createSides = (player: SelfPlayPlayer): [white: SelfPlaySide, black: SelfPlaySide] => {
      const white = this.createSide(player, random);
      return [white, player.asBlack === undefined ? white : this.createSide(player.asBlack, random)];
    };
    const [first, second] = players;
    const [white1, black1] = createSides(first);
    const [white2, black2] = first === second && settings.sharesTree ? [white1, black1] : createSides(second);
    for (let game = this.takeGame(); game !== null; game = this.takeGame()) {
      const index = game;
      random.restart(mixSeeds(run.seed, index));
      const board: SelfPlayBoard = {
        sides: isFirstPlayerWhite(index) ? [white1, black2] : [white2, black1],
        settings,
        tables,
        opening: chooseOpening(run, index, random, refused),
        random,
        onDiscard: (line) => keepRefused(settings, refused, line, random),
        onThought: (thought) => run.onThought(index, thought),
      };
      const finished = await playSelfPlayGame(board, signal);
      if (finished === null) return;
      await run.onGame(index, finished);
    }
  }

  private takeGame(): number | null {
    const { run } = this;
    while (this.nextGame < run.games && run.isDone(this.nextGame)) this.nextGame++;
    return this.signal.aborted || this.nextGame >= run.games ? null : this.nextGame++;
  }

  private createSide({ network, limits }: SelfPlayPlayer, random: Prng): SelfPlaySide {
    const pool = this.pools.get(network) as NetworkPool;
    const { queue } = pool;
    const { params } = network;
    // With a minibatch of its own a game never gathers more than that, as in lc0.
    const most = network.pool.minibatch || Number.POSITIVE_INFINITY;
    const wanted = Math.min(most, countBusyLeaves(queue) / this.boards);
    const leaves = this.run.leavesPerGame > 0 ? this.run.leavesPerGame : Math.max(1, Math.ceil(wanted));
    const isLc0Like = most === 1 && queue.workers === 1;
    const visits = Math.max(limits.visits ?? 0, limits.playouts ?? 0);
    const search = new GameSearch({
      pool,
      scheduler: this.scheduler,
      params,
      batching: { minibatch: leaves, batchesInFlight: 1, ...(isLc0Like && { prefetch: params.maxPrefetch }) },
      random,
      initialNodes: Math.ceil(Math.max(LEAST_NODES, NODES_PER_VISIT * visits)),
      maxBytes: BYTES_PER_TREE,
    });
    this.searches.push(search);
    return {
      search,
      limits,
      params,
      quietParams: { ...params, dirichletNoiseEpsilon: 0, gumbelNoiseScale: 0, forcedPlayouts: 0 },
      policyTemperature: network.pool.policyTemperature ?? 1,
    };
  }
}

/** Enough games to keep the evaluators busy with one leaf of each. */
function computeParallelism(pools: readonly NetworkPool[]): number {
  const leaves = Math.max(...pools.map(({ queue }) => countBusyLeaves(queue)));
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
