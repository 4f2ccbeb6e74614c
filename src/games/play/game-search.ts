/** The search of one side of one game: a tree of its own over a shared pool of evaluators. */

import type { Prng } from '../../base/util/index.js';
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
import type { NetworkPool } from './network-pools.js';

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
    const { move, info, hasFailed } = await scheduler.run(pool.queue, this.search, limits);
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
