/**
 * `sardonyx selfplay`: games of a network against itself (or another), with training records; lc0's flags and lines.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import {
  createGameOpenings,
  LONGEST_GAME,
  MatchLog,
  type MoveLimits,
  NetworkPools,
  type OpeningOrder,
  openGameTables,
  playSelfPlaySession,
  type SelfPlayPlayer,
  type SelfPlaySettings,
  type SelfPlaySummary,
} from '../../../selfplay/index.js';
import { createFolder, unwrap } from '../../../util/index.js';
import { addEngineFlags } from '../../engine-flags.js';
import { numberFlag, requireWhole, wholeFlag } from '../../number-flag.js';
import { createProgressBar, INTERRUPTED, printJson, printLine, printNote } from '../../output.js';
import { requireWritable } from '../../write-output.js';
import { createNetworkSetup, listGivenFlags, SELF_PLAY_DEFAULTS } from './network-setup.js';

interface SelfPlayArguments {
  'syzygy-paths': string | undefined;
  games: number;
  parallelism: number;
  'leaves-per-game': number;
  visits: number;
  playouts: number;
  movetime: number;
  'fast-visits': number;
  'full-search-share': number;
  training: boolean;
  out: string | undefined;
  results: string | undefined;
  pgnout: string | undefined;
  seed: number | undefined;
  'openings-pgn': string | undefined;
  'openings-mode': OpeningOrder;
  'mirror-openings': boolean;
  'opening-stop-prob': number;
  'reuse-tree': boolean;
  'share-trees': boolean;
  'resign-percentage': number;
  'resign-wdlstyle': boolean;
  'resign-earliest-move': number;
  'resign-playthrough': number;
  'minimum-allowed-visits': number;
  'discarded-start-chance': number;
  'max-plies': number;
  'move-thinking': boolean;
  chess960: boolean | undefined;
  player1: Record<string, unknown> | undefined;
  player2: Record<string, unknown> | undefined;
  json: boolean;
}

const LIMITS = ['visits', 'playouts', 'movetime'] as const;
const ONE_LIMIT = '-1 = no limit; one of --visits, --playouts and --movetime is needed';
const BAR_FORMAT = '{bar} {value} of {total} games, {rate} playouts a second, {eta_formatted} left';

function createLimits(args: Record<string, unknown>): MoveLimits {
  const read = (name: (typeof LIMITS)[number]): number | null => {
    const value = args[name] ?? -1;
    return Number(value) < 0 ? null : requireWhole(name, value, 1);
  };
  return { visits: read('visits'), playouts: read('playouts'), movetimeMs: read('movetime') };
}

/** @param own the player's own flags, which overrule the shared ones */
async function createPlayer(args: SelfPlayArguments, own: Record<string, unknown>): Promise<SelfPlayPlayer> {
  const limits = createLimits({ ...args, ...own });
  if (Object.values(limits).every((limit) => limit === null)) {
    throw new Error('Give --visits, --playouts or --movetime, otherwise it is not clear when to stop a search');
  }
  const flags = Object.entries(own).filter(([name]) => !LIMITS.some((limit) => limit === name));
  const network = await createNetworkSetup(
    [...listGivenFlags({ ...args }), ...flags.map(([name, value]) => [name, String(value)] as const)],
    SELF_PLAY_DEFAULTS,
    printNote,
  );
  return { limits, network: unwrap(network) };
}

function createSelfPlaySettings(args: SelfPlayArguments): SelfPlaySettings {
  const fullShare = args['fast-visits'] > 0 ? args['full-search-share'] : 1;
  return {
    playoutCap: { fullShare, fastVisits: args['fast-visits'] },
    reusesTree: args['reuse-tree'],
    sharesTree: args['share-trees'],
    resign: {
      percentage: args['resign-percentage'],
      isWdlStyle: args['resign-wdlstyle'],
      earliestMove: args['resign-earliest-move'],
      playthrough: args['resign-playthrough'],
    },
    minimumAllowedVisits: args['minimum-allowed-visits'],
    discardedStartChance: args['discarded-start-chance'],
    openingStopProbability: args['opening-stop-prob'],
    maxPlies: args['max-plies'],
    chess960: args.chess960 ?? false,
  };
}

type FinishedRun = SelfPlaySummary & { readonly interrupted: boolean };

async function runSelfPlayCommand(args: SelfPlayArguments): Promise<FinishedRun> {
  const pools = new NetworkPools();
  try {
    return await runWithPools(args, pools);
  } finally {
    await pools.close();
  }
}

async function runWithPools(args: SelfPlayArguments, pools: NetworkPools): Promise<FinishedRun> {
  const newSeed = args.seed ?? randomInt(2 ** 32);
  const folder = args.training || args.out !== undefined ? (args.out ?? `data-${newSeed.toString(36)}`) : null;
  const resultsPath = args.results ?? (folder === null ? null : join(folder, 'games.jsonl'));
  const earlier = resultsPath === null ? null : MatchLog.readConditions(resultsPath);
  const seed = args.seed ?? (typeof earlier?.seed === 'number' ? earlier.seed : newSeed);
  const openings = unwrap(
    createGameOpenings({
      book: args['openings-pgn'] ?? null,
      order: args['openings-mode'],
      isMirrored: args['mirror-openings'],
      seed,
    }),
  );
  const games = args.games === -1 ? Number.POSITIVE_INFINITY : args.games === -2 ? openings.gamesOfBook : args.games;
  const tablebases = args['syzygy-paths'] ?? '';
  const tables = unwrap(openGameTables(tablebases, printNote));
  const player1 = await createPlayer(args, args.player1 ?? {});
  const isOneMind = args.player1 === undefined && args.player2 === undefined;
  const player2 = isOneMind ? player1 : await createPlayer(args, args.player2 ?? {});
  const settings = createSelfPlaySettings(args);
  const digests: (string | null)[] = [];
  for (const { network } of [player1, player2]) digests.push((await pools.open(network)).weightsDigest);
  if (folder !== null) createFolder(folder);
  for (const path of [resultsPath, args.pgnout ?? null]) if (path !== null) requireWritable(path);
  const conditions = {
    players: [player1, player2].map(({ limits, network }, player) => ({
      limits,
      network: network.poolKey,
      weights: digests[player],
      params: network.params,
    })),
    settings,
    seed,
    book: args['openings-pgn'] ?? null,
    order: args['openings-mode'],
    isMirrored: args['mirror-openings'],
    ...(tablebases === '' ? {} : { tablebases }),
  };
  const log = unwrap(MatchLog.open(conditions, resultsPath, args.pgnout ?? null));

  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const bar = createProgressBar(BAR_FORMAT);
  const showsBar = Number.isFinite(games) && process.stderr.isTTY && !process.stdout.isTTY;
  if (showsBar) bar.start(games, log.earlier.length, { rate: 0 });
  try {
    const summary = await playSelfPlaySession(
      {
        players: [player1, player2],
        settings,
        tables,
        games,
        parallelism: args.parallelism,
        leavesPerGame: args['leaves-per-game'],
        openings: openings.at,
        seed,
        signal: abort.signal,
      },
      {
        trainingFolder: args.training ? folder : null,
        showsThinking: args['move-thinking'] && !args.json,
        log,
        event: 'Sardonyx self-play',
        onLine: (line) => {
          if (!args.json) printLine(line);
        },
        onProgress: ({ games: done, playouts, seconds }) => {
          if (showsBar) bar.update(done, { rate: Math.round(playouts / seconds) });
        },
      },
      pools,
    );
    return { ...summary, interrupted: abort.signal.aborted };
  } finally {
    bar.stop();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

export const selfPlayCommand: CommandModule<object, SelfPlayArguments> = {
  command: 'selfplay',
  describe: 'Play a network against itself and write training records',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .option(
        ...wholeFlag('games', {
          min: 1,
          also: [-1, -2],
          default: -1,
          describe: 'games; -1 = without end, -2 = as the book has',
        }),
      )
      .option(
        ...wholeFlag('parallelism', { min: 0, default: 0, describe: 'games at a time; 0 = what suits the evaluators' }),
      )
      .option(
        ...wholeFlag('leaves-per-game', {
          min: 0,
          default: 0,
          describe: 'leaves a game gathers at once; 0 = as needed',
        }),
      )
      .option(...wholeFlag('visits', { min: 1, also: [-1], default: -1, describe: `visits a move; ${ONE_LIMIT}` }))
      .option(...wholeFlag('playouts', { min: 1, also: [-1], default: -1, describe: `playouts a move; ${ONE_LIMIT}` }))
      .option(
        ...wholeFlag('movetime', { min: 1, also: [-1], default: -1, describe: `milliseconds a move; ${ONE_LIMIT}` }),
      )
      .option(
        ...wholeFlag('fast-visits', {
          min: 0,
          default: 0,
          describe: 'visits of moves that are not recorded; 0 = no such',
        }),
      )
      .option(
        ...numberFlag('full-search-share', {
          min: 0,
          isMinExcluded: true,
          max: 1,
          default: 0.25,
          describe: 'share of moves with all visits, recorded',
        }),
      )
      .option('training', { type: 'boolean', default: false, describe: 'write training records (lc0 V6)' })
      .option('out', { type: 'string', describe: 'folder of records and results; a run found there is continued' })
      .option('results', { type: 'string', describe: 'results file instead of OUT/games.jsonl' })
      .option('pgnout', {
        alias: 'tournament-results-file',
        type: 'string',
        describe: 'PGN file to add the games to',
      })
      .option(...wholeFlag('seed', { min: 0, describe: 'makes the same games again; needs --nncache=0 to be exact' }))
      .option('openings-pgn', { type: 'string', describe: 'book: PGN, EPD or FEN list, plain or .gz' })
      .option('openings-mode', { choices: ['sequential', 'shuffled', 'random'] as const, default: 'sequential' })
      .option('mirror-openings', { type: 'boolean', default: false, describe: 'play each opening twice' })
      .option(
        ...numberFlag('opening-stop-prob', {
          min: 0,
          max: 1,
          default: 0,
          describe: 'chance of leaving the book at each move',
        }),
      )
      .option('reuse-tree', { type: 'boolean', default: false, describe: 'keep the tree from move to move' })
      .option('share-trees', { type: 'boolean', default: true, describe: 'one tree for both sides' })
      .option(
        ...numberFlag('resign-percentage', {
          min: 0,
          max: 100,
          default: 0,
          describe: 'resign below this win probability',
        }),
      )
      .option('resign-wdlstyle', { type: 'boolean', default: false, describe: 'end a game by any sure result' })
      .option(...wholeFlag('resign-earliest-move', { min: 0, default: 0, describe: 'not before this move' }))
      .option(
        ...numberFlag('resign-playthrough', {
          min: 0,
          max: 100,
          default: 0,
          describe: 'per cent of games that never resign',
        }),
      )
      .option(
        ...wholeFlag('minimum-allowed-visits', { min: 0, default: 0, describe: 'draw again moves with fewer visits' }),
      )
      .option(
        ...numberFlag('discarded-start-chance', {
          min: 0,
          max: 100,
          default: 0,
          describe: 'per cent of games from refused moves',
        }),
      )
      .option(...wholeFlag('max-plies', { min: 1, default: LONGEST_GAME, describe: 'longest game' }))
      .option('move-thinking', {
        alias: 'verbose-thinking',
        type: 'boolean',
        default: false,
        describe: 'print info and bestmove of each move, marked with player, gameid and side',
      })
      .option('player1', { describe: 'flags of the first player alone: --player1.weights=FILE --player1.visits=N' })
      .option('player2', { describe: 'flags of the second player alone' })
      .option('json', {
        type: 'boolean',
        default: false,
        describe: 'print a summary as JSON instead of lc0’s lines',
      }) as never,
  handler: async (args) => {
    const summary = await runSelfPlayCommand(args);
    if (args.json) printJson(summary);
    if (summary.interrupted && args.games !== -1) {
      printNote(`Interrupted after ${summary.games} games`);
      process.exitCode = INTERRUPTED;
    }
  },
};
