/**
 * `sardonyx selfplay`: games of a network against itself (or another), with training records; lc0's flags and lines.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { createFolder } from '#platform/folders.js';
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
import { unwrap } from '../../../util/index.js';
import { addEngineFlags } from '../../engine-flags.js';
import { numberFlag, requireWhole, wholeFlag } from '../../number-flag.js';
import { createProgressBar, INTERRUPTED, printJson, printLine, printNote } from '../../output.js';
import { requireWritable } from '../../write-output.js';
import { createNetworkSetup, listGivenFlags, SELF_PLAY_DEFAULTS } from './player-network.js';

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
  'policy-target-pruning': boolean;
  'policy-surprise': number;
  'max-plies': number;
  'move-thinking': boolean;
  chess960: boolean | undefined;
  player1: Record<string, unknown> | undefined;
  player2: Record<string, unknown> | undefined;
  json: boolean;
}

const LIMITS = ['visits', 'playouts', 'movetime'] as const;
const ONE_LIMIT = '-1 = no limit; give one of --visits, --playouts, --movetime';
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
    prunesPolicyTarget: args['policy-target-pruning'],
    policySurprise: args['policy-surprise'],
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
    await createGameOpenings({
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
          describe: 'Games in all; -1 = without end, -2 = as many as the book has',
        }),
      )
      .option(
        ...wholeFlag('parallelism', {
          min: 0,
          default: 0,
          describe: 'Games played at the same time; 0 = what suits the backend',
        }),
      )
      .option(
        ...wholeFlag('leaves-per-game', {
          min: 0,
          default: 0,
          describe: 'Leaves that each game evaluates together; 0 = as many as fill the batches',
        }),
      )
      .option(
        ...wholeFlag('visits', {
          min: 1,
          also: [-1],
          default: -1,
          describe: `Visits for each move, those kept from the last move included; ${ONE_LIMIT}`,
        }),
      )
      .option(
        ...wholeFlag('playouts', {
          min: 1,
          also: [-1],
          default: -1,
          describe: `New visits for each move; ${ONE_LIMIT}`,
        }),
      )
      .option(
        ...wholeFlag('movetime', {
          min: 1,
          also: [-1],
          default: -1,
          describe: `Milliseconds for each move; ${ONE_LIMIT}`,
        }),
      )
      .option(
        ...wholeFlag('fast-visits', {
          min: 0,
          default: 0,
          describe: 'Playout cap randomisation: most moves get this many visits and are not recorded; 0 = off',
        }),
      )
      .option(
        ...numberFlag('full-search-share', {
          min: 0,
          isMinExcluded: true,
          max: 1,
          default: 0.25,
          describe: 'With --fast-visits: share of the moves that get all visits and are recorded',
        }),
      )
      .option('training', { type: 'boolean', default: false, describe: 'Write training records (lc0 V6)' })
      .option('out', { type: 'string', describe: 'Folder for records and results; an existing run there is continued' })
      .option('results', { type: 'string', describe: 'Results file, instead of OUT/games.jsonl' })
      .option('pgnout', {
        alias: 'tournament-results-file',
        type: 'string',
        describe: 'PGN file to append the games to',
      })
      .option(
        ...wholeFlag('seed', {
          min: 0,
          describe: 'Seed; the same seed gives the same games (with --nncache=0 exactly)',
        }),
      )
      .option('openings-pgn', {
        type: 'string',
        describe: 'Opening book: PGN, EPD, a list of FENs or Polyglot (.bin), plain, .gz, .zst, .bz2 or .zip',
      })
      .option('openings-mode', {
        choices: ['sequential', 'shuffled', 'random'] as const,
        default: 'sequential',
        describe: 'Order of the openings',
      })
      .option('mirror-openings', {
        type: 'boolean',
        default: false,
        describe: 'Play each opening twice, with colours reversed',
      })
      .option(
        ...numberFlag('opening-stop-prob', {
          min: 0,
          max: 1,
          default: 0,
          describe: 'Probability, at each book move, that the game leaves the book there',
        }),
      )
      .option('reuse-tree', { type: 'boolean', default: false, describe: 'Keep the search tree from move to move' })
      .option('share-trees', { type: 'boolean', default: true, describe: 'Both sides search in one tree' })
      .option(
        ...numberFlag('resign-percentage', {
          min: 0,
          max: 100,
          default: 0,
          describe: 'Resign when the win probability in per cent falls below this; 0 = never',
        }),
      )
      .option('resign-wdlstyle', {
        type: 'boolean',
        default: false,
        describe: 'End a game when any of win, draw and loss is certain enough',
      })
      .option(
        ...wholeFlag('resign-earliest-move', {
          min: 0,
          default: 0,
          describe: 'First move at which a game may be resigned',
        }),
      )
      .option(
        ...numberFlag('resign-playthrough', {
          min: 0,
          max: 100,
          default: 0,
          describe: 'Per cent of the games that are never resigned',
        }),
      )
      .option(
        ...wholeFlag('minimum-allowed-visits', {
          min: 0,
          default: 0,
          describe: 'Draw again when the drawn move has fewer visits than this',
        }),
      )
      .option(
        ...numberFlag('discarded-start-chance', {
          min: 0,
          max: 100,
          default: 0,
          describe: 'Per cent of the games that start from a move which --minimum-allowed-visits refused',
        }),
      )
      .option('policy-target-pruning', {
        type: 'boolean',
        default: false,
        describe: 'Records leave out visits that only root noise or forced playouts explain (KataGo)',
      })
      .option(
        ...numberFlag('policy-surprise', {
          min: 0,
          max: 1,
          default: 0,
          describe:
            'Policy surprise weighting (KataGo takes 0.5): share of a game’s records given to surprising positions',
        }),
      )
      .option(
        ...wholeFlag('max-plies', { min: 1, default: LONGEST_GAME, describe: 'Plies after which a game is drawn' }),
      )
      .option('move-thinking', {
        alias: 'verbose-thinking',
        type: 'boolean',
        default: false,
        describe: 'Print info and bestmove of each move, with player, gameid and side',
      })
      .option('player1', {
        describe: 'Flags of the first player only, such as --player1.weights=FILE --player1.visits=N',
      })
      .option('player2', { describe: 'Flags of the second player only' })
      .option('json', {
        type: 'boolean',
        default: false,
        describe: 'Print a summary as JSON instead of lc0’s lines',
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
