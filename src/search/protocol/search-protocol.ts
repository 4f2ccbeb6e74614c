/**
 * The protocol between engine and search thread: messages that postMessage can clone, and a flag in shared memory for `stop`,
 * because a thread that searches reads no messages. Moves are opaque 16-bit numbers, 0 = none. Values are from the view of the
 * root's mover.
 */
import type { SharedPoolHandle } from '../../networks/leaves/index.js';
import type { SearchParams } from './params.js';

/** KataGo's avoidMoves and allowMoves: moves that a search leaves out, or the only ones it considers, down to some depth. */
export interface MoveRule {
  /** Whose moves: 0 = the player to move at the root, 1 = the opponent. */
  readonly parity: 0 | 1;
  /** Plies from the root below which the rule ends; 1 = at the root only. */
  readonly untilDepth: number;
  /** Opaque 16-bit moves. */
  readonly moves: readonly number[];
  /** true: these moves are the only ones; false: all but these. */
  readonly isAllowList: boolean;
}

/** A limit that is absent does not hold; numbers of nodes, playouts, depth and mate are at least 1. */
export interface SearchLimits {
  /** Never answers before `stop`, whatever other limit is reached. */
  readonly infinite?: boolean;
  /** As `infinite`. The root is the position before the opponent's expected move, so the engine's side is not to move. */
  readonly ponder?: boolean;
  /** Reports show only this root move, once it is visited. */
  readonly reportedMove?: number;
  /** Most lines of a report; absent = 1. */
  readonly reportedLines?: number;
  /** When statistics of all root moves are sent: at the end, or with every report as well; absent = never. */
  readonly reportedStats?: 'atEnd' | 'always';
  /** Longest silence between two reports; absent = 5 seconds. */
  readonly reportIntervalMs?: number;
  /** Visits of the root, reused ones included (playouts with `NodesAsPlayouts`). */
  readonly nodes?: number;
  /** New playouts of this search. */
  readonly playouts?: number;
  /** Average depth to reach. */
  readonly depth?: number;
  /** Stop when a mate in at most this many moves is found. */
  readonly mate?: number;
  /** Time from `startedAtMs` after which the search must answer; move overhead is already taken off. */
  readonly budgetMs?: number;
  /** The clock of the game: the time manager decides how much of it this move may use. */
  readonly clock?: ClockLimits;
  /** Search only these root moves; moves that the position does not have are ignored. */
  readonly searchMoves?: readonly number[];
  /** Moves left out, or the only ones, deeper than at the root. Needs an empty tree of the kind `tree`. */
  readonly moveRules?: readonly MoveRule[];
  /** Without `searchMoves`: search only these root moves, which keep the tablebase result. Counts as one tablebase hit. */
  readonly tablebaseMoves?: readonly number[];
  /** Do not look up leaves in tablebases. */
  readonly skipsTablebases?: boolean;
  /** When the clock started: performance.timeOrigin + performance.now(). */
  readonly startedAtMs: number;
}

/** The clock of the side to move, as the GUI sends it: the time may be zero or negative. */
export interface MoverClock {
  readonly timeMs: number;
  readonly incrementMs: number;
  /** Moves until the next time control; undefined or ≤ 0 = sudden death. */
  readonly movesToGo?: number | undefined;
}

export interface ClockLimits {
  readonly clock: MoverClock;
  /** Plies played since move 1 of the game. */
  readonly gamePly: number;
  readonly moveOverheadMs: number;
  /** The options TimeManager and Slowmover, already checked against each other. */
  readonly timeManager: string;
  readonly slowmover: number;
}

export interface PositionMessage {
  readonly rootFen: string;
  readonly chess960: boolean;
  /** Moves played from `rootFen`. A position that goes on from the last one (same FEN, same moves and perhaps more) keeps the tree. */
  readonly moves: readonly number[];
  /** Side and ply of the position after the moves. */
  readonly blackToMove: boolean;
  readonly gamePly: number;
  /**
   * Plies since the last position that had occurred before; 0 = this one, Infinity = none. A graph is not kept across such
   * a position (`GameTree.fits`).
   */
  readonly pliesSinceRepetition: number;
}

/** All that one search needs to know. */
export interface SearchOrder {
  readonly params: SearchParams;
  readonly position: PositionMessage;
  readonly limits: SearchLimits;
}

export type ToSearch =
  | { readonly type: 'attach'; readonly pool: SharedPoolHandle; readonly stopFlag: SharedArrayBuffer }
  | { readonly type: 'newGame' }
  | { readonly type: 'clearTree' }
  /** Answered with `tree`. */
  | { readonly type: 'dumpTree'; readonly limits: TreeDumpLimits }
  | ({ readonly type: 'go'; readonly id: number } & SearchOrder);

export type FromSearch =
  | { readonly type: 'ready' }
  | { readonly type: 'tree'; readonly tree: TreeDump | null }
  /** The time that a clock allows the move, as known when the search starts. */
  | { readonly type: 'budget'; readonly id: number; readonly limitMs: number }
  | { readonly type: 'info'; readonly id: number; readonly info: SearchInfo }
  /** `rows` ascending by (visits, Q + U) as lc0 prints them; `node` is the root itself. */
  | { readonly type: 'stats'; readonly id: number; readonly rows: readonly MoveStats[]; readonly node: MoveStats }
  | { readonly type: 'bestMove'; readonly id: number; readonly move: number; readonly ponder: number }
  | { readonly type: 'warning'; readonly id: number; readonly text: string }
  /** `id` is NO_SEARCH when a message between two searches failed; then the thread must be replaced. */
  | { readonly type: 'error'; readonly id: number; readonly text: string };

/** No search has this id. */
export const NO_SEARCH = 0;

export interface SearchLine {
  /** Win minus loss, and the draw probability, without contempt: the inverse WDL rescale adds small errors (score.ts). */
  readonly wl: number;
  readonly d: number;
  /** The same without those errors; null when the search used contempt. */
  readonly searched: { readonly wl: number; readonly d: number } | null;
  /** Expected plies to the end of the game; null when the network does not say. */
  readonly m: number | null;
  /** wl + drawScore · d. */
  readonly q: number;
  /** Location parameter of the WDL fit (score type WDL_mu); 0 when the WDL is too extreme for a fit. */
  readonly mu: number;
  /** Moves to mate, negative when the root's mover is mated; 101 or more for a tablebase win; null = not proven. */
  readonly mate: number | null;
  readonly visits: number;
  readonly pv: readonly number[];
}

/** How well gathering fills the batches of this search. */
export interface GatheringCounters {
  readonly playouts: number;
  readonly batches: number;
  /** Walks that ended at a leaf in flight. */
  readonly collisions: number;
}

export interface SearchInfo {
  readonly depth: number;
  readonly seldepth: number;
  readonly timeMs: number;
  /** Playouts of this search plus visits reused from earlier ones. */
  readonly nodes: number;
  /** Nodes and evaluations a second; null until a millisecond after the first batch. */
  readonly nps: number | null;
  readonly eps: number | null;
  readonly tbHits: number;
  readonly gathering: GatheringCounters;
  /** Best first. */
  readonly lines: readonly SearchLine[];
}

export type StatsBound = 'none' | 'exact' | 'drawOrWin' | 'lossOrDraw';

/** One line of VerboseMoveStats. Values are in the view of the root's mover, null where lc0 prints dashes. */
export interface MoveStats {
  /** 0 for the root itself. */
  readonly move: number;
  /** The move's index in the network's policy, untransformed; for the root itself the number of legal moves. The engine fills it in. */
  readonly index: number;
  readonly visits: number;
  readonly inFlight: number;
  /** In the root's own line: the sum of the priors of its visited moves. */
  readonly prior: number;
  readonly wl: number | null;
  readonly d: number | null;
  readonly m: number | null;
  /** As in SearchLine. */
  readonly mu: number | null;
  /** An unvisited move has first play urgency. */
  readonly q: number;
  /** Null for the root itself. */
  readonly u: number | null;
  /** Q + U + moves-left utility; null for the root itself. */
  readonly s: number | null;
  /** Evaluation of the position itself, before any search. */
  readonly v: number | null;
  readonly bound: StatsBound;
}

export interface TreeDumpLimits {
  /** Plies below the root. */
  readonly depth: number;
  /** Moves with fewer visits are left out; 0 = all moves. */
  readonly minVisits: number;
  /** Those with the most visits; all when left out. */
  readonly mostNodes?: number;
}

/** A move and the node behind it. Values are in the view of the player who makes the move; the root's, of its mover. */
export interface TreeDump {
  /** Identifies the node; 0 = the move has no node. */
  readonly id: number;
  /** 0 for the root. */
  readonly move: number;
  readonly prior: number;
  /** Visits of the edge; the node of a graph may have more. */
  readonly visits: number;
  readonly nodeVisits: number;
  readonly wl: number;
  readonly d: number;
  /** Plies to the end of the game; null when the network does not say. */
  readonly m: number | null;
  /** Proven bounds of the result: -1 loss, 0 draw, 1 win. */
  readonly lower: number;
  readonly upper: number;
  readonly terminal: 'end' | 'tablebase' | 'repetition' | null;
  /** The children are listed at another occurrence of the node. */
  readonly isElsewhere: boolean;
  /** Most visits first. */
  readonly children: readonly TreeDump[];
}

const STOP_WORD = 0;
const STOP_FLAG_BYTES = 4;

/**
 * One shared word: the id of the search to stop, 0 = none. The main thread writes it, the search thread reads it between
 * two steps. It names the search, so a `stop` that comes too late cannot end the next one.
 */
export class StopFlag {
  readonly buffer: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(STOP_FLAG_BYTES)) {
    this.buffer = buffer;
    this.words = new Int32Array(buffer);
  }

  raiseFor(id: number): void {
    Atomics.store(this.words, STOP_WORD, id);
  }

  isRaisedFor(id: number): boolean {
    return Atomics.load(this.words, STOP_WORD) === id;
  }
}
