/** `sardonyx match`: games between two or more players: UCI engines, networks, the random mover. */
import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import {
  type AdjudicationRules,
  type Crosstable,
  createCrosstable,
  createMatchOpenings,
  createPlayerSources,
  createPlayerSpec,
  createReport,
  EngineError,
  formatCrosstable,
  formatReport,
  type LoggedGame,
  lockResults,
  MatchLog,
  type MatchOrigin,
  type MatchReport,
  type OpeningOrder,
  openGameTables,
  type Pair,
  type PlayerSpec,
  parseDrawRule,
  parsePlayerWords,
  parseResignRule,
  parseSprt,
  runMatch,
  type SprtSettings,
  TOURNAMENT_KINDS,
  type Tournament,
  type TournamentKind,
} from '../../../selfplay/index.js';
import { failure, type Result, success } from '../../../util/index.js';
import { addEngineFlags } from '../../engine-flags.js';
import { wholeFlag } from '../../number-flag.js';
import { INTERRUPTED, printJson, printLine, printNote } from '../../output.js';
import { requireWritable } from '../../write-output.js';
import { LiveLines } from './live-lines.js';
import { createNetworkSetup, listGivenFlags } from './player-network.js';

interface MatchArguments {
  engine: string[];
  tournament: TournamentKind;
  player1: Record<string, unknown> | undefined;
  player2: Record<string, unknown> | undefined;
  each: string | undefined;
  weights: string | undefined;
  tc: string | undefined;
  movetime: number | undefined;
  nodes: number | undefined;
  depth: number | undefined;
  games: number;
  concurrency: number;
  recover: boolean;
  'openings-pgn': string | undefined;
  'openings-mode': OpeningOrder;
  'openings-plies': number | undefined;
  chess960: boolean | undefined;
  seed: number;
  resign: string | undefined;
  draw: string | undefined;
  maxmoves: number | undefined;
  tb: string;
  'time-margin': number;
  sprt: string | undefined;
  results: string | undefined;
  pgnout: string | undefined;
  event: string;
  'rating-interval': number;
  live: boolean;
  json: boolean;
}

/** Shared settings first, then the player's own, in the order in which they overrule each other. */
function collectPairs(args: MatchArguments, own: unknown, engine: string | undefined): Result<Pair[]> {
  const shared: Pair[] = [];
  for (const key of ['weights', 'tc', 'movetime', 'nodes', 'depth'] as const) {
    if (args[key] !== undefined) shared.push([key, String(args[key])]);
  }
  const each = args.each === undefined ? success<Pair[]>([]) : parsePlayerWords(args.each);
  if (!each.ok) return each;
  const words = engine === undefined ? success<Pair[]>([]) : parsePlayerWords(engine);
  if (!words.ok) return words;
  return success([...shared, ...each.value, ...words.value, ...flatten(own)]);
}

/** { option: { Hash: 16 }, nodes: 5 } → option.Hash=16, nodes=5 (yargs takes dots apart). */
function flatten(value: unknown, prefix = ''): Pair[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [[prefix, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, prefix === '' ? key : `${prefix}.${key}`));
}

/** The players, in order. `--engine` gives those for which there is no `--player1.…` or `--player2.…`, and any further ones. */
function readPlayers(args: MatchArguments): Result<PlayerSpec[]> {
  const engines = [...args.engine];
  const specs: PlayerSpec[] = [];
  for (let player = 1; player <= 2 || engines.length > 0; player++) {
    const own = player === 1 ? args.player1 : player === 2 ? args.player2 : undefined;
    const engine = flatten(own).some(([key]) => ['cmd', 'weights', 'type'].includes(key)) ? undefined : engines.shift();
    const pairs = collectPairs(args, own, engine);
    if (!pairs.ok) return failure(`Player ${player}: ${pairs.error}`);
    const spec = createPlayerSpec(pairs.value);
    if (!spec.ok) return failure(`Player ${player}: ${spec.error}`);
    specs.push(spec.value);
  }
  return success(specs);
}

/** Players of the same name get numbers. */
function distinguishNames(names: readonly string[]): string[] {
  return names.map((name, i) => (names.filter((other) => other === name).length > 1 ? `${name} ${i + 1}` : name));
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

function readRules(args: MatchArguments): Result<AdjudicationRules> {
  const resign = args.resign === undefined ? success(null) : parseResignRule(args.resign);
  if (!resign.ok) return resign;
  const draw = args.draw === undefined ? success(null) : parseDrawRule(args.draw);
  if (!draw.ok) return draw;
  const maxPlies = args.maxmoves === undefined ? null : 2 * args.maxmoves;
  return success({ resign: resign.value, draw: draw.value, maxPlies });
}

async function playMatch(args: MatchArguments): Promise<Result<AnyReport & { interrupted: boolean; total: number }>> {
  const specs = readPlayers(args);
  if (!specs.ok) return specs;
  const rules = readRules(args);
  if (!rules.ok) return rules;
  const sprt = args.sprt === undefined ? success(null) : parseSprt(args.sprt);
  if (!sprt.ok) return sprt;
  const isTournament = specs.value.length > 2;
  if (isTournament && sprt.value !== null) return failure('--sprt tests two players; this match has more');
  for (const path of [args.results, args.pgnout]) if (path !== undefined) requireWritable(path);
  const { seed, chess960 = false } = args;
  const order = args['openings-mode'];
  const book = args['openings-pgn'] ?? null;
  const openings = await createMatchOpenings({
    book,
    maxPlies: args['openings-plies'] ?? null,
    order,
    seed,
    games: args.games,
    chess960,
  });
  if (!openings.ok) return openings;
  const tablebases = args.tb === '' ? {} : { tablebases: args.tb };
  const given = listGivenFlags({ ...args, weights: undefined });
  const tables = openGameTables(args.tb, printNote);
  if (!tables.ok) return tables;
  const sources = await createPlayerSources(specs.value, {
    chess960,
    concurrency: args.concurrency,
    setUpNetwork: (weights, flags) => {
      const named: Pair[] = weights === '' ? [] : [['weights', weights]];
      return createNetworkSetup([...given, ...named, ...flags], [], printNote);
    },
  });
  if (!sources.ok) return sources;
  const { players, networks } = sources.value;
  const conditions = {
    players: specs.value,
    ...(isTournament ? { tournament: args.tournament } : {}),
    // Networks by content: when the match is resumed, the same path may hold another network.
    ...(networks.length > 0 ? { networks } : {}),
    flags: given,
    rules: rules.value,
    ...tablebases,
    seed,
    chess960,
    book,
    order,
    openingPlies: args['openings-plies'] ?? null,
    timeMarginMs: args['time-margin'],
  };
  const names = distinguishNames(players.map(({ name }) => name));
  const unlock = args.results === undefined ? success(() => undefined) : lockResults(args.results);
  const log = unlock.ok
    ? MatchLog.open(conditions, args.results ?? null, args.pgnout ?? null, describeOrigin(args, names))
    : unlock;
  if (!unlock.ok || !log.ok) {
    if (unlock.ok) unlock.value();
    await Promise.all(players.map((player) => player.close()));
    return log as Result<never>;
  }
  const live = args.live ? new LiveLines() : null;
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const describe = (tournament: Tournament): AnyReport => describeMatch(names, tournament, sprt.value);
  try {
    const tournament = await runMatch({
      players: players.map((player, i) => ({ ...player, name: names[i] })),
      tournament: args.tournament,
      games: args.games,
      openings: openings.value,
      chess960,
      rules: rules.value,
      tables: tables.value,
      timeMarginMs: args['time-margin'],
      concurrency: args.concurrency,
      recovers: args.recover,
      seed,
      sprt: sprt.value,
      event: args.event,
      log: log.value,
      signal: abort.signal,
      onGame: (game, state) => {
        live?.finish(game);
        showGame(args, game, state, describe);
      },
      ...(live === null ? {} : { onPosition: (position) => live.show(position) }),
    });
    const total = tournament.schedule.totalGames;
    return success({ ...describe(tournament), interrupted: abort.signal.aborted, total });
  } catch (error) {
    if (error instanceof EngineError) return failure(error.message);
    throw error;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    live?.close();
    unlock.value();
  }
}

function describeOrigin(args: MatchArguments, players: readonly string[]): MatchOrigin {
  return {
    players,
    tournament: args.tournament,
    games: args.games,
    concurrency: args.concurrency,
    recovers: args.recover,
    event: args.event,
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

export const matchCommand: CommandModule<object, MatchArguments> = {
  command: 'match',
  describe: 'Play games between two or more players: networks, UCI engines, random movers',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .option('engine', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        defaultDescription: 'none',
        describe:
          'A player; give it once for each: random, a network file, a program, or "cmd=… name=… option.X=… nodes=…"',
      })
      .option('player1', {
        describe: 'The first player, key by key, such as --player1.weights=FILE --player1.nodes=100',
      })
      .option('player2', { describe: 'The second player, key by key' })
      .option('tournament', {
        choices: TOURNAMENT_KINDS,
        default: 'round-robin',
        describe: 'With more than two players: each against each, or the first against all others',
      })
      .option('each', { type: 'string', describe: 'key=value words that hold for all players' })
      .option('tc', { type: 'string', describe: 'Time control of all players: [moves/]seconds[+increment]' })
      .option(...wholeFlag('movetime', { min: 1, describe: 'Milliseconds for each move' }))
      .option(...wholeFlag('nodes', { alias: ['visits', 'playouts'], min: 1, describe: 'Nodes for each move' }))
      .option(...wholeFlag('depth', { min: 1, describe: 'Depth of each search' }))
      .option(
        ...wholeFlag('games', {
          min: 1,
          default: 100,
          describe: 'Games of each pair of players; an even number plays each opening with both colours',
        }),
      )
      .option(
        ...wholeFlag('concurrency', {
          alias: 'parallelism',
          min: 1,
          default: 1,
          describe: 'Games played at the same time',
        }),
      )
      .option('recover', {
        type: 'boolean',
        default: false,
        describe: 'Go on however often an engine crashes; without it three crashes in a row end the match',
      })
      .option('openings-pgn', {
        alias: 'openings',
        type: 'string',
        describe: 'Opening book: PGN, EPD, a list of FENs or Polyglot (.bin), plain, .gz, .zst, .bz2 or .zip',
      })
      .option('openings-mode', {
        choices: ['sequential', 'shuffled', 'random'] as const,
        default: 'shuffled',
        describe: 'Order of the openings',
      })
      .option(
        ...wholeFlag('openings-plies', {
          min: 0,
          describe: 'Plies taken from each game of a PGN book, or made from a Polyglot book (then 16 by default)',
        }),
      )
      .option(
        ...wholeFlag('seed', {
          min: 0,
          default: 1,
          describe: 'Seed of the order of openings, of random moves and of noise',
        }),
      )
      .option('resign', { type: 'string', describe: 'When a game is resigned: "movecount=3 score=600 twosided=true"' })
      .option('draw', {
        type: 'string',
        describe: 'When a game is adjudicated a draw: "movenumber=40 movecount=8 score=10"',
      })
      .option(...wholeFlag('maxmoves', { min: 1, describe: 'Moves after which a game is drawn' }))
      .option('tb', {
        type: 'string',
        default: '',
        describe: 'Folders of Syzygy tablebases: a game ends when they know its result',
      })
      .option(
        ...wholeFlag('time-margin', {
          min: 0,
          default: 50,
          describe: 'Milliseconds by which a player may overstep the clock',
        }),
      )
      .option('sprt', {
        type: 'string',
        describe: 'Sequential test that ends the match: "elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized"',
      })
      .option('results', { type: 'string', describe: 'Results file; an existing match there is continued' })
      .option('pgnout', { type: 'string', describe: 'PGN file to append the games to' })
      .option('event', { type: 'string', default: 'Sardonyx match', describe: 'Event tag of the PGN' })
      .option(
        ...wholeFlag('rating-interval', {
          min: 0,
          default: 10,
          describe: 'Games between two reports on stderr; 0 = no reports',
        }),
      )
      .option('live', {
        type: 'boolean',
        default: false,
        describe: 'Print the positions of the running games, and each result, as JSON lines on stdout',
      })
      .option('json', { type: 'boolean', default: false, describe: 'Print the result as JSON' })
      .epilogue(
        'An engine that crashes loses the game and is started again. One that dies between games, or at ucinewgame, is ' +
          'started again and loses nothing, unless it does so twice in a row. The match ends with status 1, and keeps the games ' +
          'played in --results, when it has crashed in three games in a row (but see --recover), when it cannot be started, ' +
          'and when a network of this process cannot evaluate any more.',
      ) as never,
  handler: async (args) => {
    const result = await playMatch(args);
    if (!result.ok) throw new Error(result.error);
    if (args.json) printJson(result.value);
    else {
      const { interrupted, games } = result.value;
      if (interrupted) printLine(`Interrupted after ${games} of ${result.value.total} games`);
      if (games > 0) printLine(formatAnyReport(result.value));
    }
    if (result.value.interrupted) process.exitCode = INTERRUPTED;
  },
};
