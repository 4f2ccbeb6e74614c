/**
 * What the engine tells a page: one reply to each request, and events in between. Moves are UCI text, castling king takes
 * rook. Values are from the view of the player to move in the position asked about; times are milliseconds.
 */
import * as v from 'valibot';
import type { OptionSpec, OptionValue } from '../../base/options/index.js';
import type { Info, InfoLine, MoveStatistics } from '../../engine/library/chess-engine.js';
import type { RequestType } from './requests.js';

export type ScoreText = InfoLine['score'];

/** A line of moves, as a program gets it from the library. */
export type Line = Pick<InfoLine, 'score' | 'wdl' | 'pv'>;

/** A move as a program gets it from the library, and what else VerboseMoveStats says of it: Q, U, S, V. */
export interface MoveRow extends Omit<MoveStatistics, 'value'> {
  /** Of a move without a visit the value that the search expects of it. */
  readonly q: number;
  readonly u: number | null;
  readonly s: number | null;
  readonly v: number | null;
  /** What the search has proven of the result. */
  readonly bound: 'none' | 'exact' | 'drawOrWin' | 'lossOrDraw';
}

export interface SearchState
  extends Pick<Info, 'timeMs' | 'nodes' | 'nodesPerSecond' | 'depth' | 'seldepth' | 'tablebaseHits'> {
  /** Best first. */
  readonly lines: readonly Line[];
  /** Most visits first; empty before the first statistics. */
  readonly moves: readonly MoveRow[];
}

export interface ThoughtReply {
  /** Null when the game is over. */
  readonly best: string | null;
  readonly state: SearchState;
}

/** -2 lost, -1 lost but for the fifty-move rule, 0 drawn, 1 won but for that rule, 2 won. */
export interface TablebaseVerdict {
  readonly wdl: number;
  /** Plies to a capture or pawn move; null when that table is missing. */
  readonly dtz: number | null;
  /** Every move whose position a table knows, from the mover's view, best first. */
  readonly moves: readonly { readonly move: string; readonly wdl: number; readonly dtz: number | null }[];
}

export interface SquareWeight {
  readonly square: string;
  /** What the value (W − L) loses without the square's piece. */
  readonly value: number;
  /** What the probability of the move loses. */
  readonly policy: number;
}

export interface ExplanationText {
  readonly move: string;
  readonly probability: number;
  readonly value: number;
  readonly squares: readonly SquareWeight[];
}

/** A move of the search tree; wl is from the view of the player who makes it, for the root from its mover's. */
export interface TreeNode {
  /** Empty for the root. */
  readonly move: string;
  readonly prior: number;
  readonly visits: number;
  readonly wl: number;
  readonly d: number;
  readonly terminal: 'end' | 'tablebase' | 'repetition' | null;
  readonly children: readonly TreeNode[];
}

export interface OptionState {
  readonly spec: OptionSpec;
  /** Null for buttons. */
  readonly value: OptionValue | null;
  /** Options that open files are set on the command line alone. */
  readonly isLocked: boolean;
}

export interface NetworkEntry {
  readonly name: string;
  readonly description: string;
  /** It is not here yet; choosing it fetches it first. */
  readonly needsDownload?: boolean;
  /** The browser keeps it until the user removes it. */
  readonly isKept?: boolean;
}

export interface EngineDescription {
  readonly name: string;
  readonly version: string;
  readonly options: readonly OptionState[];
  /** Who can play matches: networks, the engines that the server was started with, and the random mover; empty where there are none. */
  readonly players: readonly string[];
  /** Elo of the weakest and strongest level below full strength. */
  readonly levels: { readonly weakest: number; readonly strongest: number };
  readonly networks: readonly NetworkEntry[];
  /** There is a training loop to watch. */
  readonly hasLoop: boolean;
  /** Entry of `networks` in use; null for one that is not in the list. */
  readonly network: string | null;
  /** The loaded network in words; null while it loads, and when it could not be loaded. */
  readonly running: string | null;
  /** Why there is no network, in one sentence; '' = there is one, or it is being loaded. */
  readonly problem: string;
}

export interface MatchGame {
  readonly white: string;
  readonly black: string;
  readonly result: '1-0' | '0-1' | '1/2-1/2';
  readonly reason: string;
  readonly plies: number;
}

/** Elo of the first player against the second; infinite values are null. */
interface MatchElo {
  readonly elo: number | null;
  readonly error: number | null;
  /** Probability that the first player is the stronger. */
  readonly los: number;
}

/** A player's row of the crosstable. Infinite Elo is null. */
export interface MatchTableRow {
  readonly player: string;
  readonly points: number;
  readonly games: number;
  /** Against all its opponents together. */
  readonly elo: number | null;
  readonly error: number | null;
  /** Against each player of the table, in its order; null for itself and where they do not meet. */
  readonly against: readonly ({ readonly points: number; readonly games: number } | null)[];
}

/** The state of a match after so many games. */
export interface CoursePoint {
  readonly game: number;
  /** Of the first player against the second; of more than two players the Elo of each one against the others. */
  readonly elo: readonly (number | null)[];
  readonly error: readonly (number | null)[];
  /** Of the sequential test; null without one. */
  readonly llr: number | null;
}

const whole = v.pipe(v.number(), v.integer(), v.minValue(0));
const liveThought = v.object({
  /** From White's view; null when the player did not say. */
  score: v.nullable(v.object({ kind: v.picklist(['cp', 'mate']), value: v.number() })),
  depth: whole,
  nodes: whole,
  timeMs: v.number(),
  /** In SAN, its own move first. */
  line: v.array(v.string()),
});
export type LiveThought = v.InferOutput<typeof liveThought>;

/** A running game, as `sardonyx match --live` prints it. */
export const liveGameSchema = v.object({
  game: whole,
  white: v.string(),
  black: v.string(),
  fen: v.string(),
  plies: whole,
  /** UCI, castling king takes rook; null before the first one. */
  lastMove: v.nullable(v.string()),
  startFen: v.string(),
  /** Of the opening, in UCI as `lastMove`, and of the game. */
  moves: v.array(v.string()),
  /** What White and Black thought of their last moves; null before them. */
  thoughts: v.tuple([v.nullable(liveThought), v.nullable(liveThought)]),
  /** Of White and Black when the player to move began to think; null without a clock. */
  remainingMs: v.tuple([v.nullable(v.number()), v.nullable(v.number())]),
});
export interface LiveGame extends v.InferOutput<typeof liveGameSchema> {
  /** So long ago the player to move began to think. */
  readonly ageMs: number;
}

export interface MatchOffer {
  /** Opening books by name. */
  readonly books: readonly string[];
}

export interface MatchState {
  readonly name: string;
  readonly players: readonly string[];
  /** Time control and what else was chosen, in words. */
  readonly conditions: string;
  readonly total: number;
  readonly isRunning: boolean;
  /** A process that this server did not start plays it. */
  readonly isElsewhere: boolean;
  /** Why it ended before its time; '' = it did not. */
  readonly problem: string;
  /** Number of finished games. */
  readonly played: number;
  /** Those that the page did not know. */
  readonly games: readonly MatchGame[];
  /** Best first; empty before the first game. */
  readonly table: readonly MatchTableRow[];
  /** Null for more than two players. */
  readonly elo: MatchElo | null;
  readonly sprt: {
    readonly llr: number;
    readonly lower: number;
    readonly upper: number;
    readonly verdict: string;
  } | null;
  /** Those after the games that the page knew. */
  readonly course: readonly CoursePoint[];
  readonly live: readonly LiveGame[];
}

export interface MatchEntry {
  readonly name: string;
  readonly players: readonly string[];
  readonly isRunning: boolean;
}

/** One generation of a training loop; null where a stage was not reached. */
export interface LoopGeneration {
  readonly number: number;
  readonly games: number | null;
  readonly positions: number | null;
  /** Positions that were trained on. */
  readonly window: number | null;
  /** Of self-play. */
  readonly gamesPerHour: number | null;
  /** Of all stages. */
  readonly seconds: number;
  readonly policyLoss: number | null;
  readonly valueLoss: number | null;
  /** Games of the candidate against the best network: won, drawn, lost. */
  readonly gate: readonly [wins: number, draws: number, losses: number] | null;
  readonly promoted: boolean | null;
  /** Of the best network in its match against a kept version, by default the first; null without one, or when all games were won. */
  readonly elo: number | null;
  readonly eloError: number | null;
  /** Its network is there, so that it can become the best one. */
  readonly hasNetwork: boolean;
}

/** Games of the running stage. */
export interface LoopProgress {
  readonly done: number;
  readonly total: number | null;
}

export interface LoopState {
  readonly folder: string;
  readonly generation: number;
  readonly stage: string;
  readonly best: number;
  /** Finished ones, oldest first. */
  readonly generations: readonly LoopGeneration[];
  /** Null in stages that play no games. */
  readonly progress: LoopProgress | null;
  /** The network of generation 0 is there. */
  readonly hasFirstNetwork: boolean;
  /** Promotions and rollbacks by command, in words. */
  readonly changes: readonly string[];
  readonly control: LoopControlState;
}

interface LoopControlState {
  /** Why the server cannot start the loop; '' = it can. */
  readonly obstacle: string;
  readonly isRunning: boolean;
  readonly isStopping: boolean;
  /** A process that the server did not start runs it. */
  readonly isElsewhere: boolean;
  /** What the loop has printed last. */
  readonly lines: readonly string[];
}

/** Self-play, games of the gate, games that measure progress. */
export type LoopGameKind = 'games' | 'gate' | 'measure';
/** Number of games of each kind. */
export type LoopGames = Readonly<Record<LoopGameKind, number>>;

interface OwnAnswers {
  describe: EngineDescription;
  think: ThoughtReply;
  explain: ExplanationText;
  tree: TreeNode | null;
  probe: TablebaseVerdict | null;
  readLoop: LoopState | null;
  countLoopGames: LoopGames;
  readLoopGame: string;
  changeBest: string;
  readMatchOffer: MatchOffer;
  listMatches: readonly MatchEntry[];
  readMatch: MatchState;
  readMatchGame: string;
  startMatch: string;
}
/** Answer to each request, by its type: null unless the request asks for something. */
export type Answers = OwnAnswers & Record<Exclude<RequestType, keyof OwnAnswers>, null>;

export type PortEvent =
  /** News of the analysis or of the `think` with this request number. */
  | { readonly type: 'search'; readonly id: number; readonly state: SearchState }
  /** An analysis has failed. */
  | { readonly type: 'ended'; readonly id: number; readonly reason: string }
  /** Another page has the engine for its analysis, and says what of; null = no page has it any more. */
  | { readonly type: 'holder'; readonly about: string | null }
  | { readonly type: 'description'; readonly description: EngineDescription }
  /** Something takes its time. `share` is 0 to 1, null when it is not known; `isDone` ends it, well or badly. */
  | { readonly type: 'progress'; readonly text: string; readonly share: number | null; readonly isDone: boolean }
  | { readonly type: 'notice'; readonly level: 'note' | 'warning' | 'error'; readonly text: string };

export type Reply =
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  /** `id` null: the message could not be read so far. */
  | { readonly type: 'refusal'; readonly id: number | null; readonly error: string };

/** First words of a Worker with an engine: it takes requests now, or why it never will. */
export type WorkerNews = { readonly type: 'ready' } | { readonly type: 'obstacle'; readonly text: string };
