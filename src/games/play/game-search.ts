/** The search of one side of one game: a tree of its own over a shared pool of evaluators. */

import type { Prng } from '../../base/util/index.js';

import { LeafQueue, ROOT_ROWS } from '../../networks/leaves/index.js';
import { EvaluatorPool, type PoolOptions } from '../../networks/nn/index.js';
import {
  type Batching,
  dumpTree,
  type RootSummary,
  type SearchInfo,
  type SearchLimits,
  type SearchParams,
  type SearchScheduler,
  summariseRoot,
  type TreeDump,
  type TreeDumpLimits,
  TreeSearch,
} from '../../search/index.js';
import type { Game } from './game.js';

/** lc0's limit of centipawns. */
const LARGEST_CENTIPAWNS = 12_800;

/**
 * A search value in centipawns, for PGN comments and adjudication. Formula: lc0's default score type (`centipawn`).
 * @param wl win minus loss
 */
export function computeCentipawns(wl: number): number {
  const score = Math.round(90 * Math.tan(1.5637541897 * wl));
  return Math.max(-LARGEST_CENTIPAWNS, Math.min(LARGEST_CENTIPAWNS, score)) || 0;
}

export interface GameSearchResult {
  readonly move: number;
  readonly root: RootSummary;
  readonly info: SearchInfo | null;
}

export interface GameSearchOptions {
  readonly pool: NetworkPool;
  readonly scheduler: SearchScheduler;
  readonly params: SearchParams;
  readonly batching: Batching;
  readonly random: Prng;
  /** Nodes a tree makes room for at first, and bytes it may take at most. */
  readonly initialNodes: number;
  readonly maxBytes: number;
}

export class GameSearch {
  private readonly row: number;
  private readonly search: TreeSearch;
  private params: SearchParams;

  constructor(private readonly options: GameSearchOptions) {
    const { pool, scheduler, params, batching, random, initialNodes, maxBytes } = options;
    this.row = pool.acquireRow();
    this.params = params;
    this.search = new TreeSearch(
      {
        channel: pool.queue,
        rootRow: this.row,
        store: { maxBytes, initialNodes },
        random,
        clock: scheduler.clock,
      },
      params,
      batching,
    );
  }

  /** For the next search. */
  configure(params: SearchParams): void {
    if (params === this.params) return;
    this.params = params;
    this.search.configure(params, this.options.batching);
  }

  /** @param keepsTree keep the part of the tree below the moves played since the last search */
  setPosition(game: Game, keepsTree: boolean): void {
    const { opening, played, position, chess960 } = game;
    this.search.setPosition({
      rootFen: opening.fen,
      chess960,
      moves: [...opening.moves, ...played.map(({ move }) => move)],
      blackToMove: position.sideToMove === 1,
      gamePly: position.gamePly,
      pliesSinceRepetition: position.pliesSinceAnyRepetition(),
    });
    if (!keepsTree) this.search.clearTree();
  }

  /** Rejects when no evaluator answers, also in the middle of the search. */
  async run(limits: Omit<SearchLimits, 'startedAtMs'>): Promise<GameSearchResult> {
    const { pool, scheduler } = this.options;
    const startedAtMs = performance.timeOrigin + performance.now();
    const { move, info, hasFailed } = await scheduler.run(pool.queue, this.search, { ...limits, startedAtMs });
    const root = summariseRoot(this.search.tree);
    if (hasFailed || move === 0 || root === null) throw new Error('No evaluator could answer');
    return { move, root, info };
  }

  /** The tree of the last search, without moves left; null when nothing was searched. */
  dumpTree(limits: TreeDumpLimits): TreeDump | null {
    return dumpTree(this.search.tree, limits, false);
  }

  /** Chooses another move from the last search at random, by the temperature. */
  redraw(): number {
    return this.search.redraw();
  }

  /** Ends a running search soon; safe at any time. */
  stop(): void {
    this.search.stop();
  }

  newGame(): void {
    this.search.newGame();
  }

  /** Do not call it during a search. */
  close(): void {
    this.options.pool.releaseRow(this.row);
  }
}

export interface NetworkSetup {
  /** Shown if neither the user nor the file names the network. */
  readonly name: string;
  /** Equal keys share one pool of evaluators. */
  readonly poolKey: string;
  /** `pool.model` has the hash of the network's file. */
  readonly pool: PoolOptions;
  readonly params: SearchParams;
  readonly timeManager: string;
  readonly moveOverheadMs: number;
}

/** Hexadecimal digits of the hash that are shown. */
const DIGEST_DIGITS = 12;

/** One pool of evaluators with its producer's side and the rows of its root table. */
export class NetworkPool {
  readonly queue: LeafQueue;
  private readonly freeRows = Array.from({ length: ROOT_ROWS }, (_, i) => ROOT_ROWS - 1 - i);

  private constructor(readonly evaluators: EvaluatorPool) {
    this.queue = new LeafQueue(evaluators.handle);
  }

  /** Rejects with one sentence for the user. */
  static async open(options: PoolOptions): Promise<NetworkPool> {
    return new NetworkPool(await EvaluatorPool.create(options));
  }

  /**
   * First digits of the SHA-256 of the file in use. The path does not identify it: the file may have been replaced, or a
   * fallback backend may use another edition of the network. Null for evaluators without a file.
   */
  get weightsDigest(): string | null {
    return this.evaluators.network.fileSha256?.slice(0, DIGEST_DIGITS) ?? null;
  }

  /** Name of the network in the file in use; null without a file. */
  get networkName(): string | null {
    const { fileName } = this.evaluators.network;
    return fileName === '' ? null : fileName.replace(/\.(onnx|pb)(\.gz)?$/i, '');
  }

  /** Why the pool cannot evaluate any more; null while it can. */
  async findLoss(): Promise<string | null> {
    // The last thread sends the reason before it ends, but the message may arrive later than this call.
    return this.queue.liveEvaluators === 0 ? this.evaluators.loss : null;
  }

  acquireRow(): number {
    const row = this.freeRows.pop();
    if (row === undefined) throw new Error(`More than ${ROOT_ROWS} games cannot share one pool of evaluators`);
    return row;
  }

  releaseRow(row: number): void {
    this.freeRows.push(row);
  }

  close(): Promise<void> {
    return this.evaluators.dispose();
  }
}

/** Opens each pool once, however many players use it. */
export class NetworkPools {
  private readonly pools = new Map<string, Promise<NetworkPool>>();

  open({ poolKey, pool }: Pick<NetworkSetup, 'poolKey' | 'pool'>): Promise<NetworkPool> {
    let opened = this.pools.get(poolKey);
    if (opened === undefined) {
      opened = NetworkPool.open(pool);
      this.pools.set(poolKey, opened);
    }
    return opened;
  }

  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.then((opened) => opened.close()).catch(() => undefined)));
  }
}
