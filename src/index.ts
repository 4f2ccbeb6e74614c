/**
 * The library: `import { createEngine } from 'sardonyx'`. The same engine that talks UCI, with promises and async
 * iterators instead of text. Squares and moves are UCI strings, castling as king takes rook (b1a1) with the option
 * UCI_Chess960 and where it starts from other squares than in standard chess; scores are from the view of the side to move.
 * It writes to neither stdout nor stderr: what a user should know goes to `onWarning`.
 */

import { enginePorts } from './app/index.js';
import { createOptionStore } from './app/options.js';
import { formatUciMove, type Move, NO_MOVE, parseUciMove } from './chess/index.js';
import {
  type BestMove,
  computeWdl,
  Engine,
  type GoRequest,
  getMovesLeft,
  type RootStats,
  type SearchReport,
  writesKingTakesRook,
} from './engine/index.js';

export interface EngineSettings {
  /** Network file, .onnx or lc0's .pb.gz; the bundled network when left out. */
  readonly weights?: string;
  /** Evaluator threads; what suits the machine when left out. */
  readonly threads?: number;
  /** Any other option by its UCI name. */
  readonly options?: Readonly<Record<string, string | number | boolean>>;
  /** What went wrong and how the engine goes on, one sentence at a time. */
  readonly onWarning?: (sentence: string) => void;
}

export interface PositionSetup {
  /** The standard starting position when left out. */
  readonly fen?: string;
  /** UCI moves played from there. */
  readonly moves?: readonly string[];
}

/** With no limit at all the search goes on until `stop`. Numbers are finite and at least 0; times are milliseconds. */
export interface GoLimits {
  readonly nodes?: number;
  readonly depth?: number;
  readonly mate?: number;
  readonly moveTime?: number;
  readonly whiteTime?: number;
  readonly blackTime?: number;
  readonly whiteIncrement?: number;
  readonly blackIncrement?: number;
  readonly movesToGo?: number;
  /** Only these root moves. */
  readonly searchMoves?: readonly string[];
}

export interface InfoLine {
  /** 1 = best; more than one line with the option MultiPV. */
  readonly rank: number;
  /** Visits of the line's first move. */
  readonly visits: number;
  /** Centipawns, or full moves to mate (negative: the side to move is mated). */
  readonly score: { readonly kind: 'cp' | 'mate'; readonly value: number };
  /** Per mille. */
  readonly wdl: { readonly win: number; readonly draw: number; readonly loss: number };
  /** Expected full moves to the end of the game; null when the network does not say. */
  readonly movesLeft: number | null;
  readonly pv: readonly string[];
}

export interface Info {
  readonly depth: number;
  readonly seldepth: number;
  readonly timeMs: number;
  readonly nodes: number;
  /** Null while there is too little to divide. */
  readonly nodesPerSecond: number | null;
  readonly lines: readonly InfoLine[];
}

export interface BestMoveAnswer {
  /** Null when there is no legal move. */
  readonly move: string | null;
  /** The reply that is expected. */
  readonly ponder: string | null;
}

/** What the network says of a position, without search. */
export interface Evaluation {
  /** Win minus loss, −1 … 1. */
  readonly value: number;
  /** Per mille. */
  readonly wdl: { readonly win: number; readonly draw: number; readonly loss: number };
  /** Expected full moves to the end of the game; null when the network does not say. */
  readonly movesLeft: number | null;
  /** Every legal move with its probability, most probable first. */
  readonly policy: readonly { readonly move: string; readonly prior: number }[];
}

/** A search under way. Iterating ends with it; leaving the loop early stops it. */
export interface Search extends AsyncIterable<Info> {
  readonly bestMove: Promise<BestMoveAnswer>;
  stop(): void;
}

export interface ChessEngine extends AsyncDisposable {
  /** The network and what it runs on. */
  readonly network: string;
  /** Throws an Error whose message is one sentence when the FEN or a move is wrong. */
  position(setup?: PositionSetup): void;
  /**
   * A search that is still under way is stopped first; its bestMove comes before this one's. Throws an Error whose
   * message is one sentence when a limit or a move is wrong.
   */
  go(limits?: GoLimits): Search;
  stop(): void;
  /**
   * Forgets the search tree. Null when the game is over, or while a search is under way. Rejects with one sentence when `dispose`
   * comes before the network has answered.
   */
  evaluate(): Promise<Evaluation | null>;
  /** Throws for an unknown name or a value out of range. */
  setOption(name: string, value: string | number | boolean): void;
  /** Forgets the tree, the cache and the position. */
  newGame(): void;
  /** Ends all threads; without it the process does not end. Afterwards the engine takes no more calls but `stop`. */
  dispose(): Promise<void>;
}

/** Resolves when the network is loaded; rejects with one sentence when it cannot be. */
export async function createEngine(settings: EngineSettings = {}): Promise<ChessEngine> {
  const warn = settings.onWarning ?? (() => undefined);
  const store = createOptionStore();
  const running: RunningSearch[] = [];
  const problems: string[] = [];
  let isLoaded = false;
  const engine = new Engine(store, enginePorts, {
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
    disposal ??= endAll(engine, running);
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
    if (settings.weights !== undefined) setOption('WeightsFile', settings.weights);
    if (settings.threads !== undefined) setOption('Threads', settings.threads);
    for (const [name, value] of Object.entries(settings.options ?? {})) setOption(name, value);
    if ((await engine.prepare()) === null) throw new Error(problems[0] ?? 'No network is loaded');
  } catch (error) {
    await engine.dispose();
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
        // Any other is over, or was stopped by the one behind it.
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

class RunningSearch implements Search {
  readonly bestMove: Promise<BestMoveAnswer>;
  private readonly infos: Info[] = [];
  private answer: (best: BestMoveAnswer) => void = () => undefined;
  private isOver = false;
  private waiting: (() => void)[] = [];

  /** @param chess960 how moves are written */
  constructor(
    private readonly chess960: boolean,
    readonly stop: () => void,
  ) {
    this.bestMove = new Promise((resolve) => {
      this.answer = resolve;
    });
  }

  add(report: SearchReport): void {
    this.infos.push(createInfo(report, this.chess960));
    this.wake();
  }

  end({ move, ponder }: BestMove): void {
    this.isOver = true;
    this.answer({ move: this.formatMove(move), ponder: this.formatMove(ponder) });
    this.wake();
  }

  private formatMove(move: Move): string | null {
    return move === NO_MOVE ? null : formatUciMove(move, this.chess960);
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Info> {
    try {
      for (let next = 0; ; next++) {
        while (next >= this.infos.length && !this.isOver) {
          await new Promise<void>((resolve) => this.waiting.push(resolve));
        }
        if (next >= this.infos.length) return;
        yield this.infos[next];
      }
    } finally {
      this.stop();
    }
  }
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

function createInfo(report: SearchReport, chess960: boolean): Info {
  return {
    depth: report.depth,
    seldepth: report.seldepth,
    timeMs: report.timeMs,
    nodes: report.nodes,
    nodesPerSecond: report.nps,
    lines: report.lines.map((line) => ({ ...line, pv: line.pv.map((move) => formatUciMove(move, chess960)) })),
  };
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
