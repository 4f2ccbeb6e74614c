/**
 * Players by their specification: a network, a UCI program, or random moves. Also here: the syntax of the specification, the
 * random mover, and a network of this process as a player.
 */
import { nextTurn } from '#platform/threads.js';
import { createPrng, failure, type Result, success } from '../../base/util/index.js';
import type { Move } from '../../chess/rules/index.js';
import { computeMoveTimeBudgetMs, type SearchLimits, SearchScheduler } from '../../search/index.js';
import { createEngineSpec, type EngineSpec, parsePairs } from '../engines/index.js';
import { type Game, parseTimeControl, type Thought, type TimeControl } from './game.js';
import {
  computeCentipawns,
  GameSearch,
  type GameSearchResult,
  type NetworkPool,
  NetworkPools,
  type NetworkSetup,
} from './game-search.js';
import {
  createUciSource,
  nameEngine,
  type Player,
  PlayerFault,
  type PlayerLimits,
  type PlayerSource,
  type ThinkingTime,
} from './player.js';

// Plays random legal moves: an opponent for networks in the first hours of training.

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

// Parses a user's specification of a player, as `key=value` pairs: `random`, a UCI engine (`cmd=…`) or a network that plays
// inside this process (`weights=…`), with its limits. Keys are those of cutechess-cli and fastchess, or lc0's flags.

export type Pair = readonly [key: string, value: string];

export type PlayerSpec =
  | { readonly kind: 'random'; readonly name: string }
  | { readonly kind: 'uci'; readonly engine: EngineSpec; readonly limits: PlayerLimits }
  | {
      readonly kind: 'network';
      readonly name: string | null;
      readonly weights: string;
      readonly limits: PlayerLimits;
      /** Search and network flags, not checked here. */
      readonly options: readonly Pair[];
    };

const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;

/**
 * A whole player in one string: `random`, a network or a program, alone or before `key=value …`, or these pairs alone.
 * @param isNetworkName tells the names of networks from programs
 */
export function parsePlayerWords(text: string, isNetworkName: (word: string) => boolean = () => false): Result<Pair[]> {
  const trimmed = text.trim();
  if (/^[\w.-]+=/.test(trimmed)) return parsePairs(trimmed);
  // The player may be a path with spaces, in quotes or, where the shell has removed them, without.
  const [, , quoted, others] = /^(["'])(.*?)\1(?:\s+(.*))?$/s.exec(trimmed) ?? [];
  const at = trimmed.search(/\s[\w.-]+=/);
  const [plain, rest] = at < 0 ? [trimmed, ''] : [trimmed.slice(0, at).trimEnd(), trimmed.slice(at)];
  const pairs = parsePairs(quoted === undefined ? rest : (others ?? ''));
  return pairs.ok ? success([parsePlayerWord(quoted ?? plain, isNetworkName), ...pairs.value]) : pairs;
}

function parsePlayerWord(word: string, isNetworkName: (word: string) => boolean): Pair {
  if (word === 'random') return ['type', 'random'];
  return [NETWORK_FILE.test(word) || isNetworkName(word) ? 'weights' : 'cmd', word];
}

/** @param shared settings of all players, which the player's own overrule; of pairs with the same key the later one counts */
export function createPlayerSpec(own: readonly Pair[], shared: readonly Pair[] = []): Result<PlayerSpec> {
  const read = readLimits([...shared, ...own]);
  if (!read.ok) return read;
  const { limits, rest } = read.value;
  const find = (key: string): string | undefined => rest.findLast(([name]) => name === key)?.[1];
  const kind = find('type') ?? (find('cmd') !== undefined ? 'uci' : find('weights') !== undefined ? 'network' : '');
  const others = rest.filter(([key]) => key !== 'type');
  if (kind === 'random') {
    // What is set for all players may be meant for the others.
    const [unknown] = own.find(([key]) => key !== 'type' && key !== 'name') ?? [];
    if (unknown !== undefined) return failure(`The random mover takes no "${unknown}=": it has only a name`);
    return success({ kind, name: find('name') ?? 'random' });
  }
  const isLimited = Object.values(limits).some((limit) => limit !== null);
  const describeMissingLimit = (player: string): string =>
    `${player} has no limit: give tc, st, movetime, nodes or depth`;
  if (kind === 'network') {
    if (!isLimited) return failure(describeMissingLimit(find('weights') ?? 'A network'));
    const options = others.filter(([key]) => key !== 'weights' && key !== 'name');
    return success({ kind, name: find('name') ?? null, weights: find('weights') ?? '', limits, options });
  }
  if (kind !== 'uci') return failure('A player is "random", a network (weights=FILE) or an engine (cmd=PROGRAM)');
  const engine = createEngineSpec(others.filter(([key]) => key !== 'weights'));
  if (!engine.ok) return engine;
  const unknown = engine.value.rest[0];
  if (unknown !== undefined)
    return failure(`An engine takes no "${unknown[0]}=" (its UCI options are option.NAME=VALUE)`);
  if (!isLimited) return failure(describeMissingLimit(engine.value.spec.command));
  return success({ kind, engine: engine.value.spec, limits });
}

function readLimits(pairs: readonly Pair[]): Result<{ limits: PlayerLimits; rest: Pair[] }> {
  let timeControl: TimeControl | null = null;
  let movetimeMs: number | null = null;
  let nodes: number | null = null;
  let depth: number | null = null;
  const rest: Pair[] = [];
  for (const [key, value] of pairs) {
    const number = Number(value);
    const isCount = ['nodes', 'visits', 'playouts', 'depth'].includes(key);
    if (isCount && !(Number.isSafeInteger(number) && number > 0)) {
      return failure(`${key} needs a whole number above 0, not "${value}"`);
    }
    if ((key === 'st' || key === 'movetime') && !(Number.isFinite(number) && number > 0)) {
      return failure(`${key} needs a number above 0, not "${value}"`);
    }
    if (key === 'tc') {
      const parsed = parseTimeControl(value);
      if (!parsed.ok) return parsed;
      timeControl = parsed.value;
    } else if (key === 'st') movetimeMs = 1000 * number;
    else if (key === 'movetime') movetimeMs = number;
    else if (key === 'depth') depth = number;
    else if (isCount) nodes = number;
    else rest.push([key, value]);
  }
  return success({ limits: { timeControl, movetimeMs, nodes, depth }, rest });
}

export interface SourceOptions {
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
    pools: new NetworkPools(),
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
  try {
    const players: PlayerSource[] = [];
    for (const create of sources) players.push(await create());
    return success({ players, networks });
  } catch (error) {
    await table.pools.close();
    throw error;
  }
}

// A network of this process as a player: a tree of its own over a pool of evaluators that all its games share.

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
    };
  }

  async close(): Promise<void> {
    // The search still uses its row of the root table. The match is ending, so the row is not freed.
    if (this.isThinking) this.search.stop();
    else this.search.close();
  }

  private getTimeLimits(game: Game, time: ThinkingTime): Pick<SearchLimits, 'budgetMs' | 'clock'> {
    const { movetimeMs, timeControl } = this.limits;
    const { moveOverheadMs, timeManager } = this.setup;
    const { sideToMove, gamePly } = game.position;
    const timeMs = time.remainingMs[sideToMove];
    const clock = {
      timeMs: timeMs ?? 0,
      incrementMs: time.incrementMs[sideToMove],
      movesToGo: time.movesToGo ?? undefined,
    };
    return {
      ...(movetimeMs === null ? {} : { budgetMs: computeMoveTimeBudgetMs(movetimeMs, moveOverheadMs) }),
      ...(timeControl === null || timeMs === null
        ? {}
        : { clock: { clock, gamePly, moveOverheadMs, timeManager, slowmover: 1 } }),
    };
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
    close: () => table.pools.close(),
  };
}
