/** Implements the typed interfaces over engines that run in this process or in another. It prints nothing. */

import type { OptionStore } from '../../base/options/index.js';
import { createDeferred, unwrap } from '../../base/util/index.js';
import { computeOutcome, formatFen, formatUciMove, listLegalMoves, type Move } from '../../chess/rules/index.js';
import { computeWdl } from '../../search/index.js';
import {
  createGamePosition,
  type GamePosition,
  getMovesLeft,
  PositionReader,
  type RootStats,
  writesKingTakesRook,
} from '../core/index.js';
import { checkKeys, checkPosition, checkSettings, createRequest } from './check-arguments.js';
import type {
  ChessEngine,
  EngineOption,
  EnginePool,
  EngineSettings,
  Evaluation,
  GoLimits,
  PoolSettings,
  PositionSetup,
  Search,
  Signal,
} from './chess-engine.js';
import type { EngineHost, HostFactory, HostPosition } from './engine-host.js';
import { RequestQueue } from './request-queue.js';
import { SearchRequest } from './search-request.js';

interface Setup extends HostPosition {
  readonly game: GamePosition;
}

/** Resolves when the network is loaded; rejects with one sentence when it cannot be. */
export async function createChessEngine(settings: EngineSettings, createHost: HostFactory): Promise<ChessEngine> {
  checkSettings(settings);
  const queue = await openQueue(settings, 1, createHost);
  return new QueueEngine(queue);
}

/** @param defaultSize number of engines when the settings do not say */
export async function createChessEnginePool(
  settings: PoolSettings,
  createHost: HostFactory,
  defaultSize: number,
): Promise<EnginePool> {
  checkSettings(settings, ['engines']);
  const { engines = defaultSize, threads = 1, ...rest } = settings;
  if (!Number.isInteger(engines) || engines < 1 || engines > 1024)
    throw new Error(`engines must be a whole number from 1 to 1024, not ${String(engines)}`);
  const queue = await openQueue({ ...rest, threads }, engines, createHost);
  const reader = new PositionReader();
  const readSetup = (position: PositionSetup): Setup => {
    queue.requireOpen();
    return readPosition(queue, reader, position);
  };
  return {
    size: engines,
    get network() {
      return queue.host.network;
    },
    go: (position, limits) => startSearch(queue, readSetup(position), limits),
    evaluate: async (position, request = {}) => startEvaluation(queue, readSetup(position), request),
    dispose: () => queue.dispose(),
    [Symbol.asyncDispose]: () => queue.dispose(),
  };
}

async function openQueue(settings: EngineSettings, size: number, createHost: HostFactory): Promise<RequestQueue> {
  const {
    weights,
    threads,
    options = {},
    onWarning = () => undefined,
    onProgress = () => undefined,
    signal,
  } = settings;
  if (signal?.aborted) throw signal.reason;
  const queue = new RequestQueue(createHost, size, { onWarning, onProgress });
  let abort = (): void => undefined;
  try {
    const aborted = new Promise<never>((_, reject) => {
      abort = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', abort);
    });
    for (const host of queue.hosts) {
      if (weights !== undefined) unwrap(host.setNetwork(weights));
      if (threads !== undefined) unwrap(host.setOption('Threads', String(threads)));
      for (const [name, value] of Object.entries(options)) unwrap(host.setOption(name, String(value)));
    }
    // One after the other: the first may have to download the network.
    const load = async (): Promise<void> => {
      for (const host of queue.hosts) await host.load();
    };
    await Promise.race([load(), aborted]);
  } catch (error) {
    await queue.dispose();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  return queue;
}

class QueueEngine implements ChessEngine {
  private readonly reader = new PositionReader();
  private setup: Setup = { fen: null, moves: [], game: unwrap(createGamePosition(null, [])) };

  constructor(private readonly queue: RequestQueue) {}

  get network(): string {
    return this.queue.host.network;
  }

  get options(): readonly EngineOption[] {
    return listOptions(this.queue.host.options);
  }

  get fen(): string {
    return formatFen(this.setup.game.position);
  }

  get legalMoves(): readonly string[] {
    const { position } = this.setup.game;
    const chess960 = writesKingTakesRook(this.queue.host.options, position);
    return listLegalMoves(position).map((move) => formatUciMove(move, chess960));
  }

  get status(): ReturnType<typeof computeOutcome> {
    return computeOutcome(this.setup.game.position);
  }

  position(setup: PositionSetup = {}): void {
    this.queue.requireOpen();
    this.setup = readPosition(this.queue, this.reader, setup);
  }

  go(limits: GoLimits = {}): Search {
    this.queue.requireOpen();
    return startSearch(this.queue, this.setup, limits);
  }

  stop(): void {
    this.queue.stop();
  }

  async evaluate(request: { readonly signal?: Signal | undefined } = {}): Promise<Evaluation | null> {
    this.queue.requireOpen();
    return startEvaluation(this.queue, this.setup, request);
  }

  setOption(name: string, value: string | number | boolean): void {
    this.queue.requireOpen();
    unwrap(this.queue.host.setOption(name, String(value)));
  }

  async ready(): Promise<void> {
    this.queue.requireOpen();
    await this.queue.host.load();
    this.queue.requireOpen();
  }

  newGame(): void {
    this.queue.requireOpen();
    this.setup = { fen: null, moves: [], game: unwrap(createGamePosition(null, [])) };
    this.queue.add({ run: async (host) => host.newGame() });
  }

  dispose(): Promise<void> {
    return this.queue.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.queue.dispose();
  }
}

function readPosition(queue: RequestQueue, reader: PositionReader, setup: PositionSetup): Setup {
  const { fen, moves } = checkPosition(setup);
  const game = unwrap(reader.read(fen, moves));
  for (const note of game.notes) queue.onWarning(note);
  return { fen, moves, game };
}

function startSearch(queue: RequestQueue, { fen, moves, game }: Setup, limits: GoLimits): Search {
  const task = { fen, moves, request: createRequest(limits, game) };
  const request = new SearchRequest(task, writesKingTakesRook(queue.host.options, game.position));
  const unfollow = queue.add(request, limits.signal);
  void request.bestMove.then(unfollow, unfollow);
  return request;
}

async function startEvaluation(
  queue: RequestQueue,
  { fen, moves, game }: Setup,
  options: { readonly signal?: Signal | undefined },
): Promise<Evaluation | null> {
  checkKeys('The request', options, ['signal']);
  const chess960 = writesKingTakesRook(queue.host.options, game.position);
  const { promise, resolve, reject } = createDeferred<RootStats | null>();
  const run = (host: EngineHost): Promise<void> => host.evaluate({ fen, moves }).then(resolve, reject);
  const unfollow = queue.add({ run, fail: reject }, options.signal);
  const stats = await promise.finally(unfollow);
  return stats === null ? null : createEvaluation(stats, chess960);
}

function createEvaluation(stats: RootStats, chess960: boolean): Evaluation {
  const { node, moves } = stats;
  const value = node.wl ?? node.q;
  const policy = moves.map(({ move, prior }) => ({ move: formatUciMove(move as Move, chess960), prior }));
  return {
    value,
    wdl: computeWdl(value, node.d ?? 0),
    movesLeft: getMovesLeft(stats),
    policy: policy.sort((a, b) => b.prior - a.prior),
  };
}

function listOptions(store: OptionStore): EngineOption[] {
  return store.declared.map((spec) => {
    const value = store.values.get(spec.uci);
    return {
      name: spec.uci,
      kind: spec.kind,
      help: spec.help,
      ...(value === undefined ? {} : { value }),
      ...(spec.kind === 'button' ? {} : { default: spec.default }),
      ...(spec.kind === 'int' || spec.kind === 'float' ? { min: spec.min, max: spec.max } : {}),
      ...(spec.kind === 'choice' ? { choices: spec.choices } : {}),
    };
  });
}
