/**
 * Our own network beside the labelling engine: it says which positions our search visits, and its policy and W − L without
 * search show which positions it judges worst.
 */

import { createDeferred, createPrng, runSideBySide, unwrap } from '../../base/util/index.js';
import { formatUciMove, hasChess960Castling, type Move, parseFen } from '../../chess/rules/index.js';
import { SearchScheduler, type TreeDump } from '../../search/index.js';
import { Game, GameSearch, type NetworkPool, type NetworkPools, type NetworkSetup } from '../play/index.js';
import type { ScoredMove, Surprise } from '../records/index.js';
import { type LabelledGameRecord, makeUciMoves } from './label-record.js';
import { computeDivergence, computeTarget, type Impression } from './label-target.js';

/** A position of a game: the moves from a FEN, in UCI notation. */
export interface Root {
  readonly fen: string;
  readonly moves: readonly string[];
}

/** How a network is asked. */
export interface LabelNetworkSetup {
  /** As in play. */
  readonly search: NetworkSetup;
  /** With policy temperature 1: the policy that is trained. */
  readonly impression: NetworkSetup;
}

/** Searches at a time, so that the evaluators' batches are full. */
const SEARCHES = 16;
const BYTES_PER_TREE = 64 * 2 ** 20;
const INITIAL_NODES = 1024;
/** Deeper nodes of a tree are not drawn. */
const MOST_PLIES = 60;
const DIGITS = 1000;

export class LabelNetwork {
  private readonly scheduler = new SearchScheduler();
  private readonly searchers: GameSearch[];
  private readonly askers: GameSearch[];
  /** Callers take turns: the searches are shared. */
  private lastRun: Promise<void> = Promise.resolve();

  private constructor(
    /** First digits of the hash of the network's file; null without one. */
    readonly digest: string | null,
    search: NetworkPool,
    impression: NetworkPool,
    setup: LabelNetworkSetup,
  ) {
    this.searchers = this.createSearches(search, setup.search);
    this.askers = this.createSearches(impression, setup.impression);
  }

  /** Rejects with one sentence for the user. */
  static async open(setup: LabelNetworkSetup, pools: NetworkPools): Promise<LabelNetwork> {
    const [search, impression] = [await pools.open(setup.search), await pools.open(setup.impression)];
    return new LabelNetwork(search.weightsDigest, search, impression, setup);
  }

  /**
   * Searches each root and lists the nodes that got a visit, as the moves from the root to them; without the root itself and
   * without ends of the game.
   * @param nodes visits of each root
   */
  async listVisited(roots: readonly Root[], nodes: number): Promise<string[][][]> {
    const lists: string[][][] = new Array(roots.length);
    await this.runAll(this.searchers, roots, async (search, root, i) => {
      search.setPosition(createGame(root), false);
      await search.run({ nodes });
      const tree = search.dumpTree({ depth: MOST_PLIES, minVisits: 1 });
      lists[i] = tree === null ? [] : listPaths(tree);
    });
    return lists;
  }

  /** The network's policy and W − L of positions that are not over, without search. */
  async askAll(roots: readonly Root[]): Promise<Impression[]> {
    const impressions: Impression[] = new Array(roots.length);
    await this.runAll(this.askers, roots, async (search, root, i) => {
      search.setPosition(createGame(root), false);
      const { root: summary } = await search.run({ nodes: 1 });
      const isChess960 = hasChess960Castling(unwrap(parseFen(root.fen)));
      const policy = summary.moves.map(({ move, prior }) => [formatUciMove(move as Move, isChess960), prior] as const);
      impressions[i] = { policy: new Map(policy), wl: summary.own.wl };
    });
    return impressions;
  }

  /** The records with the surprise of each scored ply. */
  async addSurprise(records: readonly LabelledGameRecord[]): Promise<LabelledGameRecord[]> {
    const roots = records.flatMap(({ fen, plies }) => {
      const moves = plies.map(([played]) => played);
      return plies.flatMap(([, scores], ply) => (scores.length > 0 ? [{ fen, moves: moves.slice(0, ply) }] : []));
    });
    const impressions = (await this.askAll(roots)).values();
    return records.map(({ next, ...record }) => {
      const surprise = record.plies.map(([, scores]) =>
        scores.length === 0 ? null : measureSurprise(impressions.next().value as Impression, scores),
      );
      return { ...record, surprise, ...(next === undefined ? {} : { next }) };
    });
  }

  private createSearches(pool: NetworkPool, setup: NetworkSetup): GameSearch[] {
    return Array.from(
      { length: SEARCHES },
      () =>
        new GameSearch({
          pool,
          scheduler: this.scheduler,
          // All nodes are searched, even when the best move is clear.
          params: { ...setup.params, smartPruningFactor: 0 },
          batching: { minibatch: 1, batchesInFlight: 1 },
          random: createPrng(0),
          initialNodes: INITIAL_NODES,
          maxBytes: BYTES_PER_TREE,
        }),
    );
  }

  private async runAll(
    searches: readonly GameSearch[],
    roots: readonly Root[],
    run: (search: GameSearch, root: Root, index: number) => Promise<void>,
  ): Promise<void> {
    let next = 0;
    const free = [...searches];
    const before = this.lastRun;
    const own = createDeferred();
    this.lastRun = own.promise;
    await before;
    await runSideBySide(
      Math.min(searches.length, roots.length),
      async () => {
        const search = free.pop() as GameSearch;
        while (next < roots.length) {
          const index = next++;
          await run(search, roots[index], index);
        }
      },
      () => {
        next = roots.length;
      },
    ).finally(own.resolve);
  }
}

function createGame({ fen, moves }: Root): Game {
  return new Game({ fen, moves: makeUciMoves(unwrap(parseFen(fen)), moves), origin: 'labels' }, false);
}

function listPaths(tree: TreeDump): string[][] {
  const paths: string[][] = [];
  const walk = (node: TreeDump, path: readonly string[]): void => {
    for (const child of node.children) {
      if (child.terminal !== null) continue;
      const own = [...path, formatUciMove(child.move as Move, true)];
      paths.push(own);
      walk(child, own);
    }
  };
  walk(tree, []);
  return paths;
}

function measureSurprise(impression: Impression, scores: readonly ScoredMove[]): Surprise {
  const target = computeTarget(scores);
  const round = (value: number): number => Math.round(value * DIGITS) / DIGITS;
  return [round(computeDivergence(target.policy, impression.policy)), round(Math.abs(target.wl - impression.wl))];
}
