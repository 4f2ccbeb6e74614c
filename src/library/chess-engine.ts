/**
 * What a program gets from `createEngine`, in Node and in a web page: the engine with promises and async iterators instead of
 * UCI text. Moves are UCI strings. Castling is written as king takes rook (b1a1) with the option UCI_Chess960, and always where
 * king and rook start on other squares than in standard chess. Scores are from the view of the side to move.
 */

/**
 * A network: a path (Node) or an address, or the content of a file. Files are .onnx, .onnx.gz or lc0's .pb.gz and are told apart by
 * their content.
 */
export type NetworkSource = string | URL | Blob | ArrayBuffer | Uint8Array;

export interface EngineSettings {
  /** The bundled network when left out. */
  readonly weights?: NetworkSource;
  /** Evaluator threads; chosen for the machine when left out. */
  readonly threads?: number;
  /** Any other option by its UCI name. */
  readonly options?: Readonly<Record<string, string | number | boolean>>;
  /** Called with one sentence for each problem that the engine could work around. */
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
  /** Null until enough time has passed to measure it. */
  readonly nodesPerSecond: number | null;
  readonly lines: readonly InfoLine[];
}

export interface BestMoveAnswer {
  /** Null when there is no legal move. */
  readonly move: string | null;
  /** The reply that is expected. */
  readonly ponder: string | null;
}

/** The network's evaluation of a position, without search. */
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
  /** The network's name, its backend and the number of its threads. */
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
   * Evaluates the position without search, and forgets the search tree. Null when the game is over or a search is under way.
   * Rejects with one sentence when `dispose` is called before the network has answered.
   */
  evaluate(): Promise<Evaluation | null>;
  /** Throws for an unknown name or a value out of range. */
  setOption(name: string, value: string | number | boolean): void;
  /** Forgets the tree, the cache and the position. */
  newGame(): void;
  /** Ends all threads; without it the process does not end. Afterwards only `stop` may be called. */
  dispose(): Promise<void>;
}
