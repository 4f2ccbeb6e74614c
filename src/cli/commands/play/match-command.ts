/** `sardonyx match`: games between two or more players: UCI engines, networks, the random mover. */
import { resolve } from 'node:path';
import { toOneLine, unwrap } from '../../../base/util/index.js';
import { isNetworkName } from '../../../engine/weights/index.js';
import type { Pair } from '../../../games/engines/index.js';
import {
  type Crosstable,
  createCrosstable,
  createReport,
  distinguishNames,
  formatCrosstable,
  formatReport,
  type LoggedGame,
  lockResults,
  MatchLog,
  type MatchOrigin,
  type MatchReport,
  runMatch,
  TOURNAMENT_KINDS,
  type Tournament,
} from '../../../games/match/index.js';
import { createMatchOpenings } from '../../../games/openings/index.js';
import {
  type AdjudicationRules,
  createPlayerSources,
  createPlayerSpec,
  NetworkPools,
  openGameTables,
  type PlayerSpec,
  parseDrawRule,
  parsePlayerWords,
  parseResignRule,
} from '../../../games/play/index.js';
import { parseSprt, type SprtSettings } from '../../../games/statistics/index.js';
import {
  choice,
  declareCommand,
  keys,
  limit,
  onOff,
  text,
  texts,
  type ValuesOf,
  whole,
} from '../../declare-command.js';
import type { GivenFlags } from '../../engine-flags.js';
import { INTERRUPTED, Interruption, printJson, printLine, printNote } from '../../output.js';
import { requireWritable } from '../../write-output.js';
import { LiveLines } from './live-lines.js';
import { createNetworkSetup } from './player-network.js';

const DEFAULT_MARGIN_MS = 50;
const DEFAULT_EVENT = 'Sardonyx match';

// biome-ignore format: a row a flag
const FLAGS = {
  engine: texts('A player; give it once for each: random, a network (file or name), a program, or "cmd=… name=… option.X=… nodes=…"', { defaultDescription: 'none' }),
  player1: keys('The first player, key by key, such as --player1.weights=FILE --player1.nodes=100'),
  player2: keys('The second player, key by key'),
  tournament: choice(TOURNAMENT_KINDS, 'round-robin', 'With more than two players: each against each, or the first against all others'),
  each: text('key=value words that hold for all players'),
  tc: text('Time control of all players: [moves/]seconds[+increment]'),
  movetime: limit('Milliseconds for each move'),
  nodes: limit('Nodes for each move', { oldNames: ['visits', 'playouts'] }),
  depth: limit('Depth of each search'),
  games: whole({ min: 1, default: 100 }, 'Games of each pair of players; an even number plays each opening with both colours'),
  concurrency: whole({ oldNames: ['parallelism'], min: 1, default: 1 }, 'Games played at the same time'),
  recover: onOff('Go on however often an engine crashes; without it three crashes in a row end the match'),
  'openings-pgn': text('Opening book: PGN, EPD, a list of FENs or Polyglot (.bin), plain, .gz, .zst, .bz2 or .zip', { alias: 'openings' }),
  'openings-mode': choice(['sequential', 'shuffled', 'random'], 'shuffled', 'order of the openings', { goesWith: ['openings-pgn'] }),
  'openings-plies': whole({ min: 0, goesWith: ['openings-pgn'] }, 'plies taken from each game of a PGN book, or made from a Polyglot book (then 16 by default)'),
  seed: whole({ min: 0, default: 1 }, 'Seed of the order of openings, of random moves and of noise'),
  resign: text('When a game is resigned: "movecount=3 score=600 twosided=true"'),
  draw: text('When a game is adjudicated a draw: "movenumber=40 movecount=8 score=10"'),
  'max-plies': limit('Plies after which a game is drawn, those of the opening included'),
  maxmoves: limit('The same limit in moves of both sides', { hidden: true, notWith: ['max-plies'] }),
  'syzygy-paths': text('Folders of Syzygy tablebases: a game ends when they know its result, and the networks search with them'),
  tb: text('Folders of tablebases that end games, and nothing else', { default: '', hidden: true, notWith: ['syzygy-paths'] }),
  'time-margin': whole({ min: 0, default: DEFAULT_MARGIN_MS }, 'Milliseconds by which a player may overstep the clock'),
  sprt: text('Sequential test that ends the match: "elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized"'),
  results: text('Results file; an existing match there is continued'),
  pgnout: text('PGN file to append the games to'),
  event: text('Event tag of the PGN', { default: DEFAULT_EVENT }),
  'rating-interval': whole({ min: 0, default: 10 }, 'Games between two reports on stderr; 0 = no reports'),
  live: onOff('Print the positions of the running games, each result, and the report at the end as JSON lines on stdout'),
  json: onOff('Print the result as JSON'),
};

type MatchArguments = ValuesOf<typeof FLAGS>;

/** The settings of all players, and the player's own, which overrule them. */
function collectPairs(
  args: MatchArguments,
  given: GivenFlags,
  own: unknown,
  engine: string | undefined,
): Record<'shared' | 'own', Pair[]> {
  const weights = given.get('weights');
  const shared: Pair[] = weights === undefined ? [] : [['weights', weights]];
  for (const key of ['tc', 'movetime', 'nodes', 'depth'] as const) {
    if (args[key] != null) shared.push([key, String(args[key])]);
  }
  const each = args.each === undefined ? [] : unwrap(parsePlayerWords(args.each, isNetworkName));
  const words = engine === undefined ? [] : unwrap(parsePlayerWords(engine, isNetworkName));
  return { shared: [...shared, ...each], own: [...words, ...flatten(own)] };
}

/** { option: { Hash: 16 }, nodes: 5 } → option.Hash=16, nodes=5 (yargs takes dots apart). */
function flatten(value: unknown, prefix = ''): Pair[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [[prefix, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, prefix === '' ? key : `${prefix}.${key}`));
}

/** The players, in order. `--engine` gives those for which there is no `--player1.…` or `--player2.…`, and any further ones. */
function readPlayers(args: MatchArguments, given: GivenFlags): PlayerSpec[] {
  const engines = [...args.engine];
  const specs: PlayerSpec[] = [];
  for (let player = 1; player <= 2 || engines.length > 0; player++) {
    const own = player === 1 ? args.player1 : player === 2 ? args.player2 : undefined;
    const engine = flatten(own).some(([key]) => ['cmd', 'weights', 'type'].includes(key)) ? undefined : engines.shift();
    try {
      const pairs = collectPairs(args, given, own, engine);
      specs.push(unwrap(createPlayerSpec(pairs.own, pairs.shared)));
    } catch (error) {
      throw new Error(`Player ${player}: ${(error as Error).message}`);
    }
  }
  return specs;
}

/** Of two players, or the table of more. */
type AnyReport = MatchReport | Crosstable;

function describeMatch(names: readonly string[], tournament: Tournament, sprt: SprtSettings | null): AnyReport {
  const [first, second, ...others] = names;
  if (others.length > 0) return createCrosstable(names, tournament);
  return createReport([first, second], tournament.pairings[0], sprt);
}

function formatAnyReport(report: AnyReport): string {
  return 'table' in report ? formatCrosstable(report) : formatReport(report);
}

function readRules({ resign, draw, maxmoves, 'max-plies': maxPlies }: MatchArguments): AdjudicationRules {
  return {
    resign: resign === undefined ? null : unwrap(parseResignRule(resign)),
    draw: draw === undefined ? null : unwrap(parseDrawRule(draw)),
    maxPlies: maxPlies ?? (maxmoves == null ? null : 2 * maxmoves),
  };
}

/** Throws one sentence for a flag that has no effect in this match; its default says nothing. */
function requireEffect(args: MatchArguments, specs: readonly PlayerSpec[]): void {
  const hasClock = specs.some(
    (spec) => 'limits' in spec && (spec.limits.timeControl ?? spec.limits.movetimeMs) !== null,
  );
  if (args['time-margin'] !== DEFAULT_MARGIN_MS && !hasClock)
    throw new Error('--time-margin has no effect without a player that has a clock: tc, st or movetime');
  if (args.event !== DEFAULT_EVENT && args.pgnout === undefined && args.results === undefined)
    throw new Error('--event has no effect without --pgnout or --results');
}

async function playMatch(
  args: MatchArguments,
  given: GivenFlags,
  pools: NetworkPools,
): Promise<AnyReport & { interrupted: boolean; total: number }> {
  const specs = readPlayers(args, given);
  const rules = readRules(args);
  const sprt = args.sprt === undefined ? null : unwrap(parseSprt(args.sprt));
  const isTournament = specs.length > 2;
  if (isTournament && sprt !== null) throw new Error('--sprt tests two players; this match has more');
  if (!isTournament && args.tournament === 'gauntlet') throw new Error('--tournament has no effect with two players');
  requireEffect(args, specs);
  for (const path of [args.results, args.pgnout]) if (path !== undefined) requireWritable(path);
  const { seed } = args;
  const chess960 = given.get('chess960') === 'true';
  const order = args['openings-mode'];
  const book = args['openings-pgn'] ?? null;
  const maxPlies = args['openings-plies'] ?? null;
  const openings = unwrap(
    await createMatchOpenings({ book, maxPlies, order, seed, games: args.games, chess960, onNote: printNote }),
  );
  const paths = args['syzygy-paths'] ?? args.tb;
  const tablebases = paths === '' ? {} : { tablebases: paths };
  const flags = [...given].filter(([flag]) => flag !== 'weights');
  const tables = unwrap(openGameTables(paths, printNote));
  const setUpNetwork = (weights: string, own: readonly Pair[]): ReturnType<typeof createNetworkSetup> =>
    createNetworkSetup([...flags, ...(weights === '' ? [] : [['weights', weights] as const]), ...own], [], printNote);
  const { concurrency } = args;
  const sources = await createPlayerSources(specs, { pools, chess960, concurrency, setUpNetwork });
  const { players, networks } = unwrap(sources);
  const conditions = {
    players: specs,
    ...(isTournament ? { tournament: args.tournament } : {}),
    // Networks by content: when the match is resumed, the same path may hold another network.
    ...(networks.length > 0 ? { networks } : {}),
    flags,
    rules,
    ...tablebases,
    seed,
    chess960,
    book,
    order,
    openingPlies: maxPlies,
    timeMarginMs: args['time-margin'],
  };
  const names = distinguishNames(players.map(({ name }) => name));
  const unlock = args.results === undefined ? null : unwrap(lockResults(args.results));
  const live = args.live ? new LiveLines() : null;
  const interruption = new Interruption();
  const describe = (tournament: Tournament): AnyReport => describeMatch(names, tournament, sprt);
  try {
    const origin = describeOrigin(args, names);
    const log = unwrap(MatchLog.open(conditions, args.results ?? null, args.pgnout ?? null, origin));
    const tournament = await runMatch({
      players: players.map((player, i) => ({ ...player, name: names[i] })),
      tournament: args.tournament,
      games: args.games,
      openings,
      chess960,
      rules,
      tables,
      timeMarginMs: args['time-margin'],
      concurrency,
      recovers: args.recover,
      seed,
      sprt,
      event: args.event,
      log,
      signal: interruption.signal,
      onGame: (game, state) => {
        live?.finish(game);
        showGame(args, game, state, describe);
      },
      ...(live === null ? {} : { onPosition: (position) => live.show(position) }),
    });
    const total = tournament.schedule.totalGames;
    return { ...describe(tournament), interrupted: interruption.signal.aborted, total };
  } finally {
    interruption.dispose();
    live?.close();
    unlock?.();
  }
}

function describeOrigin(args: MatchArguments, players: readonly string[]): MatchOrigin {
  return {
    players,
    tournament: args.tournament,
    games: args.games,
    concurrency: args.concurrency,
    recovers: args.recover,
    event: toOneLine(args.event),
    sprt: args.sprt ?? null,
    pgn: args.pgnout === undefined ? null : resolve(args.pgnout),
  };
}

function showGame(
  args: MatchArguments,
  game: LoggedGame,
  tournament: Tournament,
  describe: (tournament: Tournament) => AnyReport,
): void {
  const { white, black, result, reason, fault = '' } = game;
  const lines = [`Finished game ${game.game + 1} (${white} vs ${black}): ${result} {${reason}}`];
  if (fault !== '') lines.push(`  ${fault}`);
  const interval = args['rating-interval'];
  if (interval > 0 && tournament.played % interval === 0) lines.push(formatAnyReport(describe(tournament)));
  printNote(lines.join('\n'));
}

export const matchCommand = declareCommand({
  command: 'match',
  describe: 'Play games between two or more players: networks, UCI engines, random movers',
  flags: FLAGS,
  engineFlags: 'named',
  epilogue:
    'An engine that crashes loses the game and is started again. One that dies between games, or at ucinewgame, is ' +
    'started again and loses nothing, unless it does so twice in a row. The match ends with status 1 (games played stay in ' +
    '--results) when an engine crashes in three games in a row, unless --recover is given, when an engine cannot be started, ' +
    'and when a network of this process cannot evaluate any more.',
  run: async (args, given) => {
    const pools = new NetworkPools();
    const result = await playMatch(args, given, pools).finally(() => pools.close());
    if (args.live) printJson({ type: 'report', ...result });
    else if (args.json) printJson(result);
    else {
      if (result.interrupted) printLine(`Interrupted after ${result.games} of ${result.total} games`);
      if (result.games > 0) printLine(formatAnyReport(result));
    }
    if (result.interrupted) process.exitCode = INTERRUPTED;
  },
});
