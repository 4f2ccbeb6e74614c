/** Implements the typed interface over the room `engine`. It prints nothing: messages for the user go to `onWarning`. */
import { formatUciMove, type Move, NO_MOVE, parseUciMove } from '../chess/index.js';
import {
  Engine,
  type EnginePorts,
  type GoRequest,
  getMovesLeft,
  type RootStats,
  writesKingTakesRook,
} from '../engine/index.js';
import type { OptionStore } from '../options/index.js';
import { computeWdl } from '../search/index.js';
import type { ChessEngine, EngineSettings, Evaluation, GoLimits, NetworkSource } from './chess-engine.js';
import { RunningSearch } from './running-search.js';

/** What differs between Node and a page. */
export interface EngineParts {
  readonly options: OptionStore;
  readonly ports: EnginePorts;
}

/** Resolves when the network is loaded; rejects with one sentence when it cannot be. */
export async function createChessEngine(
  settings: EngineSettings,
  { options: store, ports }: EngineParts,
): Promise<ChessEngine> {
  const warn = settings.onWarning ?? (() => undefined);
  const weights = settings.weights === undefined ? null : addressNetwork(settings.weights);
  const running: RunningSearch[] = [];
  const problems: string[] = [];
  let isLoaded = false;
  const engine = new Engine(store, ports, {
    report: (report) => running[0]?.add(report),
    moveStats: () => undefined,
    bestMove: (best) => running.shift()?.end(best),
    warning: warn,
    note: () => undefined,
    debug: () => undefined,
    error: (sentence) => (isLoaded ? warn(sentence) : problems.push(sentence)),
  });
  const isChess960 = (): boolean => writesKingTakesRook(store, engine.position.position);
  let disposal: Promise<void> | undefined;
  const dispose = (): Promise<void> => {
    disposal ??= endAll(engine, running).finally(() => weights?.release());
    return disposal;
  };
  const requireThreads = (): void => {
    if (disposal !== undefined) throw new Error('The engine was disposed of');
  };
  const setOption = (name: string, value: string | number | boolean): void => {
    const result = engine.setOption(name, String(value));
    if (!result.ok) throw new Error(result.error);
  };
  try {
    if (weights !== null) setOption('WeightsFile', weights.text);
    if (settings.threads !== undefined) setOption('Threads', settings.threads);
    for (const [name, value] of Object.entries(settings.options ?? {})) setOption(name, value);
    if ((await engine.prepare()) === null) throw new Error(problems[0] ?? 'No network is loaded');
  } catch (error) {
    await dispose();
    throw error;
  }
  isLoaded = true;
  return {
    get network() {
      return engine.network?.description ?? '';
    },
    position: ({ fen, moves = [] } = {}) => {
      requireThreads();
      const result = engine.setPosition(fen ?? null, moves);
      if (!result.ok) throw new Error(result.error);
    },
    go: (limits = {}) => {
      requireThreads();
      const search = new RunningSearch(isChess960(), () => {
        // An earlier search is over, or the next `go` has stopped it.
        if (running.at(-1) === search) engine.stop();
      });
      const request = createRequest(limits, engine);
      running.push(search);
      engine.go(request);
      return search;
    },
    stop: () => engine.stop(),
    evaluate: async () => {
      requireThreads();
      const chess960 = isChess960();
      const stats = await engine.evaluate();
      if (stats === null) requireThreads();
      return stats === null ? null : createEvaluation(stats, chess960);
    },
    setOption: (name, value) => {
      requireThreads();
      setOption(name, value);
    },
    newGame: () => {
      requireThreads();
      engine.newGame();
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

async function endAll(engine: Engine, running: RunningSearch[]): Promise<void> {
  await engine.dispose();
  for (const search of running.splice(0)) search.end({ move: NO_MOVE, ponder: NO_MOVE });
}

interface NetworkAddress {
  /** The value of the option WeightsFile. */
  readonly text: string;
  release(): void;
}

/** Gives content in memory an address, because an option is text and the network may have to be loaded again. Its name follows `#`. */
function addressNetwork(source: NetworkSource): NetworkAddress {
  if (typeof source === 'string' || source instanceof URL) return { text: String(source), release: () => undefined };
  const isBlob = source instanceof Blob;
  const address = URL.createObjectURL(isBlob ? source : new Blob([new Uint8Array(source)]));
  const name = isBlob && 'name' in source ? String(source.name) : 'network';
  return { text: `${address}#${encodeURIComponent(name)}`, release: () => URL.revokeObjectURL(address) };
}

function checkNumbers({ searchMoves: _, ...numbers }: GoLimits): void {
  for (const [name, number] of Object.entries(numbers)) {
    if (number === undefined || (Number.isFinite(number) && number >= 0)) continue;
    throw new Error(`${name} must be a finite number of at least 0, not ${number}`);
  }
}

function createRequest(limits: GoLimits, engine: Engine): GoRequest {
  checkNumbers(limits);
  const { moveTime, whiteTime, blackTime, whiteIncrement, blackIncrement, searchMoves, ...same } = limits;
  return {
    ...same,
    ...(moveTime === undefined ? {} : { moveTimeMs: moveTime }),
    ...(whiteTime === undefined ? {} : { whiteTimeMs: whiteTime }),
    ...(blackTime === undefined ? {} : { blackTimeMs: blackTime }),
    ...(whiteIncrement === undefined ? {} : { whiteIncrementMs: whiteIncrement }),
    ...(blackIncrement === undefined ? {} : { blackIncrementMs: blackIncrement }),
    ...(searchMoves === undefined ? {} : { searchMoves: searchMoves.map((text) => parseMove(text, engine)) }),
  };
}

function parseMove(text: string, engine: Engine): Move {
  const move = parseUciMove(engine.position.position, text);
  if (!move.ok) throw new Error(move.error);
  return move.value;
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
