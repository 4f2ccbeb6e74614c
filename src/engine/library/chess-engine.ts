/**
 * What a program gets from `createEngine`, in Node and in a web page: the engine with promises and async iterators instead of
 * UCI text. Moves are UCI strings. Castling is written as king takes rook (b1a1) with the option UCI_Chess960, and always where
 * king and rook start on other squares than in standard chess. Scores are from the view of the side to move.
 *
 * These types name no type of a page or of Node, so a program needs neither `lib.dom` nor `@types/node` to use them.
 */

declare global {
  interface SymbolConstructor {
    /** For compilers whose `lib` does not know `await using` yet. */
    readonly asyncDispose: unique symbol;
  }
}

/** An AbortSignal. */
export interface Signal {
  /** Whether the request is given up. */
  readonly aborted: boolean;
  /** With what the promise of the request rejects. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A Blob or a File. */
export interface BlobContent {
  /** In bytes. */
  readonly size: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A URL. */
export interface Address {
  readonly href: string;
}

/**
 * A network: a path (Node) or an address, or the content of a file. Files are .onnx, .onnx.gz or lc0's .pb.gz and are told apart by
 * their content.
 */
export type NetworkSource = string | Address | BlobContent | ArrayBuffer | Uint8Array;

/** Unknown keys are refused by name, here and in every other object that a program passes. */
export interface EngineSettings {
  /** The bundled network when left out. */
  readonly weights?: NetworkSource | undefined;
  /** Evaluator threads; chosen for the machine when left out. */
  readonly threads?: number | undefined;
  /** Any other option by its UCI name; `ChessEngine.options` lists them. */
  readonly options?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Called with one sentence for each problem that the engine could work around. */
  readonly onWarning?: ((sentence: string) => void) | undefined;
  /** Called with one sentence while something takes long: a download, the loading of a large network. */
  readonly onProgress?: ((sentence: string) => void) | undefined;
  /** Gives up the start. */
  readonly signal?: Signal | undefined;
}

export interface PoolSettings extends EngineSettings {
  /** Number of engines, each with `threads` evaluator threads (1 when left out). Chosen for the machine when left out. */
  readonly engines?: number | undefined;
}

export interface PositionSetup {
  /** The standard starting position when left out. */
  readonly fen?: string | undefined;
  /** UCI moves played from there. */
  readonly moves?: readonly string[] | undefined;
}

/** With no limit at all the search goes on until `stop`. Numbers are finite and at least 0; times are milliseconds. */
export interface GoLimits {
  /** Visits of the root, those of a tree that is reused included. */
  readonly nodes?: number | undefined;
  /** Average depth of the tree, as lc0 counts it. */
  readonly depth?: number | undefined;
  /** Ends when a mate in this many moves is found. */
  readonly mate?: number | undefined;
  /** Time for this move. */
  readonly moveTime?: number | undefined;
  /** What is left on White's clock. */
  readonly whiteTime?: number | undefined;
  /** What is left on Black's clock. */
  readonly blackTime?: number | undefined;
  /** White's increment per move. */
  readonly whiteIncrement?: number | undefined;
  /** Black's increment per move. */
  readonly blackIncrement?: number | undefined;
  /** Moves to the next time control; the whole game when left out. */
  readonly movesToGo?: number | undefined;
  /** Only these root moves. */
  readonly searchMoves?: readonly string[] | undefined;
  /** Search on the opponent's time: the limits count from `Search.ponderHit` on. The position's last move is the expected one. */
  readonly ponder?: boolean | undefined;
  /** Gives up the search; `bestMove` then rejects with the signal's reason. */
  readonly signal?: Signal | undefined;
}

/** Per mille; the sum is 1000. */
export interface WinDrawLoss {
  readonly win: number;
  readonly draw: number;
  readonly loss: number;
}

export interface InfoLine {
  /** 1 = best; more than one line with the option MultiPV. */
  readonly rank: number;
  /** Visits of the line's first move. */
  readonly visits: number;
  /** Centipawns, or full moves to mate (negative: the side to move is mated). */
  readonly score: { readonly kind: 'cp' | 'mate'; readonly value: number };
  /** Expected results. */
  readonly wdl: WinDrawLoss;
  /** Expected full moves to the end of the game; null when the network does not say. */
  readonly movesLeft: number | null;
  /** The expected moves, the best one first. */
  readonly pv: readonly string[];
}

export interface Info {
  /** Average depth of the tree. */
  readonly depth: number;
  /** Depth of its deepest line. */
  readonly seldepth: number;
  /** Since the search began. */
  readonly timeMs: number;
  /** Visits of the root, those of a tree that was reused included. */
  readonly nodes: number;
  /** Null until enough time has passed to measure it. */
  readonly nodesPerSecond: number | null;
  /** Share of the evaluation cache in use, per mille; null when nothing was searched. */
  readonly hashFull: number | null;
  /** Positions that the tablebases answered. */
  readonly tablebaseHits: number;
  /** Best line first. */
  readonly lines: readonly InfoLine[];
}

/** What the search knows of one legal move at its end. */
export interface MoveStatistics {
  readonly move: string;
  /** N */
  readonly visits: number;
  /** P: the network's probability, 0 … 1. */
  readonly prior: number;
  /** Q: expected win minus loss, −1 … 1; null for a move without a visit. */
  readonly value: number | null;
  /** D: probability of a draw, 0 … 1; null for a move without a visit. */
  readonly draw: number | null;
  /** M: expected full moves to the end of the game; null when the network does not say, or without a visit. */
  readonly movesLeft: number | null;
}

/**
 * Why a search ended. `limit`: as asked. `stopped`: by `stop`, or the loop over its infos was left. `replaced`: it had no limit, and
 * another request came. `gameOver`: there is no legal move. `failed`: nothing could be evaluated; the move is any legal one.
 */
export type SearchEnd = 'limit' | 'stopped' | 'replaced' | 'gameOver' | 'failed';

export interface BestMoveAnswer {
  /** Null when there is no legal move. */
  readonly move: string | null;
  /** The reply that is expected. */
  readonly ponder: string | null;
  /** Why the search ended. */
  readonly end: SearchEnd;
  /** Every move that was searched, most visits first. */
  readonly moves: readonly MoveStatistics[];
}

/** The network's evaluation of a position, without search. */
export interface Evaluation {
  /** Win minus loss, −1 … 1. */
  readonly value: number;
  /** Expected results. */
  readonly wdl: WinDrawLoss;
  /** Expected full moves to the end of the game; null when the network does not say. */
  readonly movesLeft: number | null;
  /** Every legal move with its probability, most probable first. */
  readonly policy: readonly { readonly move: string; readonly prior: number }[];
}

/**
 * A search, under way or waiting for its turn. Iterating ends with it; leaving the loop early stops it. When the engine is disposed
 * of or the signal aborts, both `bestMove` and the loop reject.
 */
export interface Search extends AsyncIterable<Info> {
  /** Resolves when the search is over. */
  readonly bestMove: Promise<BestMoveAnswer>;
  /** Ends the search; it still answers, with its best move so far. */
  stop(): void;
  /** The opponent played the expected move: the limits count from now on. Throws if the search does not ponder. */
  ponderHit(): void;
}

/** `checkmate`: the side to move has lost. All others but `ongoing` are draws. */
export type GameStatus = 'ongoing' | 'checkmate' | 'stalemate' | 'insufficient-material' | 'fifty-moves' | 'threefold';

/** An option, by its UCI name. */
export interface EngineOption {
  readonly name: string;
  /** `button` has no value: setting it does something once. */
  readonly kind: 'float' | 'int' | 'bool' | 'choice' | 'string' | 'button';
  /** What it does, in a line. */
  readonly help: string;
  /** Undefined for buttons, and for other names of an option. */
  readonly value?: string | number | boolean;
  readonly default?: string | number | boolean;
  /** Least number. */
  readonly min?: number;
  /** Largest number. */
  readonly max?: number;
  readonly choices?: readonly string[];
}

export interface ChessEngine {
  /** The network's name, its backend and the number of its threads. */
  readonly network: string;
  /** All options with their values. */
  readonly options: readonly EngineOption[];
  /** The position, in FEN. */
  readonly fen: string;
  /** The moves that the side to move may play. */
  readonly legalMoves: readonly string[];
  /** Whether the game is over, by the moves that `position` named. */
  readonly status: GameStatus;
  /** Sets the position of what is asked next. Throws an Error whose message is one sentence when the FEN or a move is wrong. */
  position(setup?: PositionSetup): void;
  /**
   * Searches the position. Requests wait for each other and are answered in order. Only a search without a limit is ended by the
   * next request. Throws an Error whose message is one sentence when a limit or a move is wrong.
   */
  go(limits?: GoLimits): Search;
  /** Ends the search that runs, and those that wait as soon as they begin. */
  stop(): void;
  /**
   * Evaluates the position without search, and forgets the search tree. Null when the game is over. Waits for the requests before it.
   * Rejects with one sentence when `dispose` is called before the network has answered.
   */
  evaluate(request?: { readonly signal?: Signal | undefined }): Promise<Evaluation | null>;
  /** It applies from the next search that begins. Throws for an unknown name or a value out of range. */
  setOption(name: string, value: string | number | boolean): void;
  /**
   * Resolves when the network for the options is loaded. Rejects with one sentence when it cannot be; the network before it then stays
   * in use. A search waits for the network by itself.
   */
  ready(): Promise<void>;
  /** Forgets the tree and the cache after the requests so far, and the position at once. */
  newGame(): void;
  /** Ends all threads; without it the process does not end. Requests without an answer reject. Afterwards only `stop` may be called. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Several engines for many requests at once. Each request goes to the next engine that is free. */
export interface EnginePool {
  /** Number of engines. */
  readonly size: number;
  /** The network's name, its backend and the number of each engine's threads. */
  readonly network: string;
  /** Searches a position. Throws an Error whose message is one sentence when the position, a limit or a move is wrong. */
  go(position: PositionSetup, limits: GoLimits): Search;
  /** Evaluates a position without search; null when the game is over. */
  evaluate(position: PositionSetup, request?: { readonly signal?: Signal | undefined }): Promise<Evaluation | null>;
  /** Ends all threads. Requests without an answer reject. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
