/** A network of this process as a player: a tree of its own over a pool of evaluators that all its games share. */
import { createPrng } from '../../base/util/index.js';
import type { Move } from '../../chess/rules/index.js';
import { computeMoveTimeBudgetMs, type SearchLimits, type SearchScheduler } from '../../search/index.js';
import type { Game, Thought } from './game.js';
import { computeCentipawns, GameSearch, type GameSearchResult } from './game-search.js';
import type { NetworkPool, NetworkPools, NetworkSetup } from './network-pools.js';
import { type Player, PlayerFault, type PlayerLimits, type PlayerSource, type ThinkingTime } from './player.js';

/** A game's tree; enough for some million nodes. */
const BYTES_PER_TREE = 512 * 2 ** 20;
const INITIAL_NODES = 4096;

/** What the networks of a match share. */
export interface NetworkTable {
  readonly pools: NetworkPools;
  readonly scheduler: SearchScheduler;
  /** Games at a time. With more games, each gathers fewer leaves at once. */
  readonly concurrency: number;
}

class NetworkPlayer implements Player {
  private readonly search: GameSearch;
  /** Restarted with every game. */
  private readonly random = createPrng(0);
  private isThinking = false;

  constructor(
    readonly name: string,
    readonly limits: PlayerLimits,
    private readonly setup: NetworkSetup,
    private readonly pool: NetworkPool,
    table: NetworkTable,
  ) {
    const { queue } = pool;
    const leaves = Math.max(1, Math.ceil(((queue.workers + 1) * queue.minibatch) / table.concurrency));
    const minibatch = Math.min(queue.minibatch, leaves);
    const isSequential = queue.workers === 1 && queue.minibatch === 1;
    this.search = new GameSearch({
      pool,
      scheduler: table.scheduler,
      params: setup.params,
      batching: { minibatch, batchesInFlight: isSequential ? 1 : Math.ceil(leaves / minibatch) },
      random: this.random,
      initialNodes: INITIAL_NODES,
      maxBytes: BYTES_PER_TREE,
    });
  }

  async startGame(seed: number): Promise<void> {
    this.random.restart(seed);
    this.search.newGame();
  }

  async think(game: Game, time: ThinkingTime): Promise<Thought> {
    const { nodes, depth } = this.limits;
    this.search.setPosition(game, true);
    this.isThinking = true;
    let result: GameSearchResult;
    try {
      result = await this.search.run({
        ...(nodes === null ? {} : { nodes }),
        ...(depth === null ? {} : { depth }),
        ...this.getTimeLimits(game, time),
      });
    } catch (error) {
      const loss = await this.pool.findLoss();
      // The network cannot evaluate any more, so no further game can be played.
      if (loss !== null) throw new Error(`The match ends because ${this.name} cannot evaluate any more: ${loss}`);
      throw new PlayerFault('crash', `${this.name}: ${(error as Error).message}`);
    } finally {
      this.isThinking = false;
    }
    const { move, root, info } = result;
    return {
      move: move as Move,
      score: computeCentipawns(root.wl),
      depth: info?.depth ?? 0,
      nodes: info?.nodes ?? 0,
      timeMs: null,
      line: (info?.lines[0]?.pv ?? []) as readonly Move[],
    };
  }

  async close(): Promise<void> {
    // The search still uses its row of the root table. The match is ending, so the row is not freed.
    if (this.isThinking) this.search.stop();
    else this.search.close();
  }

  private getTimeLimits(game: Game, time: ThinkingTime): Pick<SearchLimits, 'budgetMs' | 'clock'> {
    const { movetimeMs } = this.limits;
    const { moveOverheadMs, timeManager } = this.setup;
    const { sideToMove, gamePly } = game.position;
    const timeMs = time.remainingMs[sideToMove];
    const budget = movetimeMs === null ? {} : { budgetMs: computeMoveTimeBudgetMs(movetimeMs, moveOverheadMs) };
    if (timeMs === null) return budget;
    const clock = { timeMs, incrementMs: time.incrementMs[sideToMove], movesToGo: time.movesToGo ?? undefined };
    return { ...budget, clock: { clock, gamePly, moveOverheadMs, timeManager, slowmover: 1 } };
  }
}

export function createNetworkSource(
  setup: NetworkSetup,
  name: string,
  limits: PlayerLimits,
  table: NetworkTable,
): PlayerSource {
  return {
    name,
    limits,
    create: async () => new NetworkPlayer(name, limits, setup, await table.pools.open(setup), table),
  };
}
