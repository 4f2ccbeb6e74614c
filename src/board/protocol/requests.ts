/**
 * What a page may ask of the engine. Each request is one JSON object with a number chosen by the page; the answer carries the
 * same number. The schemas are the only declaration: types are derived from them, and a message that does not fit is answered
 * by one error.
 *
 * Positions travel as a FEN (null = standard start) and the UCI moves since, castling written king takes rook.
 */
import * as v from 'valibot';

const MOST_MOVES = 2000;
const LONGEST_FEN = 120;
const LONGEST_VALUE = 2000;
const ONE_DAY_MS = 86_400_000;
export const MOST_PLAYERS = 12;
/** Of each pairing of a match. */
export const MOST_GAMES = 1e6;
/** Of players, networks and books. */
export const LONGEST_NAME = 300;
const MOST_LIVE_GAMES = 16;

const move = v.pipe(v.string(), v.regex(/^[a-h][1-8][a-h][1-8][nbrqk]?$/));
const count = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(most));
const id = count(Number.MAX_SAFE_INTEGER);
const milliseconds = count(ONE_DAY_MS);

const position = v.strictObject({
  fen: v.nullable(v.pipe(v.string(), v.maxLength(LONGEST_FEN))),
  moves: v.pipe(v.array(move), v.maxLength(MOST_MOVES)),
});

/** How long a search with an end may take. At least one of the fields is needed. */
const limits = v.pipe(
  v.strictObject({
    nodes: v.optional(v.pipe(count(1e9), v.minValue(1))),
    moveTimeMs: v.optional(milliseconds),
    whiteTimeMs: v.optional(milliseconds),
    blackTimeMs: v.optional(milliseconds),
    whiteIncrementMs: v.optional(milliseconds),
    blackIncrementMs: v.optional(milliseconds),
  }),
  v.check(
    ({ nodes, moveTimeMs, whiteTimeMs }) => (nodes ?? moveTimeMs ?? whiteTimeMs) !== undefined,
    'a search needs a limit',
  ),
);

const multiPv = v.pipe(count(500), v.minValue(1));
const searchMoves = v.optional(v.pipe(v.array(move), v.maxLength(256)));

/** Matches are named by the server. */
const matchName = v.pipe(v.string(), v.regex(/^[\w-][\w.-]{0,79}$/));

const matchSettings = {
  /** Names from EngineDescription.players. */
  players: v.pipe(v.array(v.pipe(v.string(), v.maxLength(LONGEST_NAME))), v.minLength(2), v.maxLength(MOST_PLAYERS)),
  /** Of more than two players: each against each, or the first against all others. */
  tournament: v.optional(v.picklist(['round-robin', 'gauntlet']), 'round-robin'),
  /** Null = by nodes. */
  clock: v.nullable(
    v.strictObject({
      seconds: v.pipe(v.number(), v.minValue(0.1), v.maxValue(36_000)),
      increment: v.pipe(v.number(), v.minValue(0), v.maxValue(600)),
    }),
  ),
  nodes: v.pipe(count(1e9), v.minValue(1)),
  /** Of each two players. */
  games: v.pipe(count(MOST_GAMES), v.minValue(2)),
  /** Games at the same time. */
  concurrency: v.optional(v.pipe(count(MOST_LIVE_GAMES), v.minValue(1)), 1),
  /** Name from MatchOffer.books; null = the initial position. */
  book: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(LONGEST_NAME))), null),
  /** Stop when a sequential test has decided between these Elo differences. */
  sprt: v.nullable(
    v.strictObject({
      elo0: v.pipe(v.number(), v.minValue(-500), v.maxValue(500)),
      elo1: v.pipe(v.number(), v.minValue(-500), v.maxValue(500)),
    }),
  ),
  chess960: v.boolean(),
};

/** What a match of a page is; the server keeps it in the match's folder. */
export const matchSettingsSchema = v.strictObject(matchSettings);
export type MatchSettings = v.InferOutput<typeof matchSettingsSchema>;

export const requestSchema = v.variant('type', [
  /** Answered with EngineDescription. */
  v.strictObject({ type: v.literal('describe'), id }),
  /** Searches until `stop` or until another page takes the engine. Answered when it is understood, followed by events. */
  v.strictObject({
    type: v.literal('analyse'),
    id,
    position,
    multiPv,
    searchMoves,
    /** The user has done something: the engine is taken from another page that has it. */
    takes: v.optional(v.boolean(), true),
    /** What is analysed, in words for the other pages. */
    about: v.optional(v.pipe(v.string(), v.maxLength(LONGEST_NAME)), ''),
  }),
  /** Ends this page's analysis. */
  v.strictObject({ type: v.literal('stop'), id }),
  /** A search with an end, at full strength or at `elo`. Answered with ThoughtReply. */
  v.strictObject({
    type: v.literal('think'),
    id,
    position,
    limits,
    multiPv,
    elo: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4000))),
  }),
  /** The `think` with that number answers at once with what it has; if it still waits, it is refused. */
  v.strictObject({ type: v.literal('hurry'), id, think: id }),
  v.strictObject({
    type: v.literal('setOption'),
    id,
    name: v.pipe(v.string(), v.maxLength(100)),
    value: v.pipe(v.string(), v.maxLength(LONGEST_VALUE)),
  }),
  /** The network of that name from EngineDescription.networks. */
  v.strictObject({ type: v.literal('useNetwork'), id, name: v.pipe(v.string(), v.maxLength(LONGEST_NAME)) }),
  /** Which squares a move and the value hang on; the network's favourite move when none is named. */
  v.strictObject({ type: v.literal('explain'), id, position, move: v.nullable(move) }),
  /** The tree of this page's analysis as it is now, its 4000 most visited nodes at most; the analysis goes on. */
  v.strictObject({
    type: v.literal('tree'),
    id,
    depth: v.pipe(count(40), v.minValue(1)),
    minVisits: v.pipe(count(1e9), v.minValue(1)),
  }),
  /** What tablebases say of the position and its moves. Answered with TablebaseVerdict or null. */
  v.strictObject({ type: v.literal('probe'), id, position }),
  /** The training loop that the server was started with. Answered with LoopState, or null without one. */
  v.strictObject({ type: v.literal('readLoop'), id }),
  /** Answered with LoopGames. */
  v.strictObject({ type: v.literal('countLoopGames'), id, generation: count(1e6) }),
  /** Answered with the PGN of one game, from 0. */
  v.strictObject({
    type: v.literal('readLoopGame'),
    id,
    generation: count(1e6),
    kind: v.picklist(['games', 'gate', 'measure']),
    game: count(1e7),
  }),
  v.strictObject({ type: v.literal('startLoop'), id }),
  v.strictObject({ type: v.literal('stopLoop'), id }),
  /** Makes the network of a generation the best one. Answered with what was changed, in words. */
  v.strictObject({
    type: v.literal('changeBest'),
    id,
    kind: v.picklist(['promote', 'rollback']),
    network: count(1e6),
  }),
  /** Answered with MatchOffer. */
  v.strictObject({ type: v.literal('readMatchOffer'), id }),
  v.strictObject({ type: v.literal('listMatches'), id }),
  /** Answered with MatchState. @param from games that the page knows already */
  v.strictObject({ type: v.literal('readMatch'), id, name: matchName, from: v.optional(count(1e6), 0) }),
  /** The PGN of one finished game, from 0. */
  v.strictObject({ type: v.literal('readMatchGame'), id, name: matchName, game: count(1e6) }),
  /** Answered with the name of the match. */
  v.strictObject({ type: v.literal('startMatch'), id, ...matchSettings }),
  v.strictObject({ type: v.literal('pauseMatch'), id, name: matchName }),
  v.strictObject({ type: v.literal('resumeMatch'), id, name: matchName }),
  /** Deletes the files of a match that nobody plays. */
  v.strictObject({ type: v.literal('deleteMatch'), id, name: matchName }),
]);

export type Request = v.InferOutput<typeof requestSchema>;
export type RequestType = Request['type'];
export type RequestOf<Type extends RequestType> = Extract<Request, { type: Type }>;
/** What a page sends: fields with a default may be missing. */
export type SentRequestOf<Type extends RequestType> = Extract<v.InferInput<typeof requestSchema>, { type: Type }>;
export type PositionText = v.InferOutput<typeof position>;
export type ThinkLimits = v.InferOutput<typeof limits>;

/** To a Worker with an engine alone: deletes a kept network. Answered with null. */
export interface RemoveNetwork {
  readonly type: 'removeNetwork';
  readonly id: number;
  readonly name: string;
}

/** To a Worker with an engine alone, since a File is no JSON: reads a network, keeps it, and uses it. Answered with null. */
export interface OpenNetwork {
  readonly type: 'openNetwork';
  readonly id: number;
  /** A file, or an https address. */
  readonly source: File | string;
}
