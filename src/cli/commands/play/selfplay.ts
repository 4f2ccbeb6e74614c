/**
 * `sardonyx selfplay`: games of a network against itself (or another), with training records; lc0's flags and lines.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createFolder } from '#platform/folders.js';
import { countOf, unwrap } from '../../../base/util/index.js';
import { MatchLog } from '../../../games/match/index.js';
import { createGameOpenings } from '../../../games/openings/index.js';
import { NetworkPools, openGameTables } from '../../../games/play/index.js';
import {
  LONGEST_GAME,
  listPlayers,
  type MoveLimits,
  playSelfPlaySession,
  type SelfPlayPlayer,
  type SelfPlaySettings,
  type SelfPlaySummary,
} from '../../../games/training/index.js';
import {
  choice,
  declareCommand,
  keys,
  limit,
  number,
  onOff,
  requireWhole,
  text,
  type ValuesOf,
  whole,
} from '../../declare-command.js';
import type { GivenFlags } from '../../engine-flags.js';
import { createProgressBar, INTERRUPTED, Interruption, printJson, printLine, printNote } from '../../output.js';
import { requireWritable } from '../../write-output.js';
import { createNetworkSetup, SELF_PLAY_DEFAULTS } from './player-network.js';

const LIMITS = ['visits', 'playouts', 'movetime'] as const;
const WHICHEVER = 'give --visits, --playouts or --movetime; of several, whichever comes first';
const BAR_FORMAT = '{bar} {value} of {total} games, {rate} playouts a second, {eta_formatted} left';

function createLimits(args: Record<string, unknown>): MoveLimits {
  const read = (name: (typeof LIMITS)[number]): number | null => {
    const value = args[name] ?? -1;
    return [0, -1].includes(Number(value)) ? null : requireWhole(name, value, 1);
  };
  return { visits: read('visits'), playouts: read('playouts'), movetimeMs: read('movetime') };
}

type OwnFlags = Readonly<Record<string, unknown>>;

/** @param own the player's own flags, which overrule the shared ones */
async function createPlayer(args: SelfPlayArguments, given: GivenFlags, own: OwnFlags): Promise<SelfPlayPlayer> {
  const instant = args['policy-mode-size'] > 0 ? 'policyhead' : args['value-mode-size'] > 0 ? 'valuehead' : null;
  const limits = instant === null ? createLimits({ ...args, ...own }) : { visits: 1, playouts: null, movetimeMs: null };
  if (Object.values(limits).every((limit) => limit === null)) {
    throw new Error('Give --visits, --playouts or --movetime, otherwise it is not clear when to stop a search');
  }
  const flags = Object.entries(own).filter(([name]) => !LIMITS.some((limit) => limit === name));
  const network = await createNetworkSetup(
    [
      ...given,
      ...flags.map(([name, value]) => [name, String(value)] as const),
      ...(instant === null ? [] : ([['SearchAlgorithm', instant], ...INSTANT_SETTINGS] as const)),
    ],
    SELF_PLAY_DEFAULTS,
    printNote,
  );
  return { limits, network: unwrap(network) };
}

/** Games of one evaluation a move have neither noise nor temperature, as in lc0. */
const INSTANT_SETTINGS = [
  ['Temperature', '0'],
  ['DirichletNoiseEpsilon', '0'],
] as const;

/** A player with each colour. Nearer flags win: `--player1.white.NAME`, then `--white.NAME`, then `--player1.NAME`, as in lc0. */
async function createPlayers(
  args: SelfPlayArguments,
  given: GivenFlags,
): Promise<readonly [SelfPlayPlayer, SelfPlayPlayer]> {
  const create = async (player: OwnFlags = {}): Promise<SelfPlayPlayer> => {
    const { white, black, ...both } = player as { white?: OwnFlags; black?: OwnFlags };
    const asWhite = await createPlayer(args, given, { ...both, ...args.white, ...white });
    const own = [args.white, args.black, white, black].some((flags) => flags !== undefined);
    return own
      ? { ...asWhite, asBlack: await createPlayer(args, given, { ...both, ...args.black, ...black }) }
      : asWhite;
  };
  const first = await create(args.player1);
  return [first, args.player1 === undefined && args.player2 === undefined ? first : await create(args.player2)];
}

/** As lc0 does: such games are deterministic, so the book must suffice. */
function checkInstantGames(args: SelfPlayArguments, games: number, gamesOfBook: number): void {
  const sizes = [args['policy-mode-size'], args['value-mode-size']];
  if (Math.max(...sizes) === 0) return;
  const refuse = (problem: string): never => {
    throw new Error(`Games by policy or value alone: ${problem}`);
  };
  if (Math.min(...sizes) > 0) refuse('give --policy-mode-size or --value-mode-size, not both');
  if (args['openings-pgn'] === undefined) refuse('such games need an opening book: --openings-pgn');
  if (games > gamesOfBook) {
    const openings = `openings for ${countOf(gamesOfBook, 'game')}`;
    refuse(`the book has ${openings}, and repeated openings would give the same games again`);
  }
  if (LIMITS.some((name) => args[name] !== null)) {
    refuse('a move has one evaluation, so --visits, --playouts and --movetime have no meaning');
  }
}

function createSelfPlaySettings(args: SelfPlayArguments, given: GivenFlags): SelfPlaySettings {
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
    maxPlies: args['max-plies'] ?? LONGEST_GAME,
    chess960: given.get('chess960') === 'true',
  };
}

type FinishedRun = SelfPlaySummary & { readonly interrupted: boolean };

async function runSelfPlay(args: SelfPlayArguments, given: GivenFlags, pools: NetworkPools): Promise<FinishedRun> {
  const newSeed = args.seed ?? randomInt(2 ** 32);
  const folder = args.training || args.out !== undefined ? (args.out ?? `data-${newSeed.toString(36)}`) : null;
  const resultsPath = args.results ?? (folder === null ? null : join(folder, 'games.jsonl'));
  const earlier = resultsPath === null ? null : MatchLog.readConditions(resultsPath);
  const seed = args.seed ?? (typeof earlier?.seed === 'number' ? earlier.seed : newSeed);
  const instantGames = Math.max(args['policy-mode-size'], args['value-mode-size']);
  // lc0 plays such games with both colours.
  const isMirrored = args['mirror-openings'] || instantGames > 0;
  const book = args['openings-pgn'] ?? null;
  const order = args['openings-mode'];
  const openings = unwrap(await createGameOpenings({ book, order, isMirrored, seed }));
  const counted = args.games > 0 ? args.games : Number.POSITIVE_INFINITY;
  const games = args.games === -2 ? openings.gamesOfBook : counted;
  const tablebases = given.get('syzygy-paths') ?? '';
  const tables = unwrap(openGameTables(tablebases, printNote));
  checkInstantGames(args, games, openings.gamesOfBook);
  const players = await createPlayers(args, given);
  const settings = createSelfPlaySettings(args, given);
  const digests: (string | null)[] = [];
  const all = listPlayers(players);
  for (const { network } of all) digests.push((await pools.open(network)).weightsDigest);
  if (folder !== null) createFolder(folder);
  const { pgnout = null, 'tournament-results-file': tournamentFile = null } = args;
  for (const path of [resultsPath, pgnout, tournamentFile]) if (path !== null) requireWritable(path);
  const conditions = {
    players: all.map(({ limits, network }, player) => ({
      limits,
      network: network.poolKey,
      weights: digests[player],
      params: network.params,
    })),
    settings,
    seed,
    book,
    order,
    isMirrored,
    ...(tablebases === '' ? {} : { tablebases }),
  };
  const log = unwrap(MatchLog.open(conditions, resultsPath, pgnout));

  const interruption = new Interruption();
  const bar = createProgressBar(BAR_FORMAT);
  if (Number.isFinite(games) && !process.stdout.isTTY) bar.start(games, log.earlier.length, { rate: 0 });
  try {
    const summary = await playSelfPlaySession(
      {
        players,
        settings,
        tables,
        games,
        parallelism: instantGames || args.concurrency,
        leavesPerGame: args['leaves-per-game'],
        openings: openings.at,
        seed,
        signal: interruption.signal,
      },
      {
        trainingFolder: args.training ? folder : null,
        showsThinking: args['move-thinking'] && !args.json,
        log,
        tournamentFile,
        event: 'Sardonyx self-play',
        onLine: (line) => {
          if (!args.json) printLine(line);
        },
        onProgress: ({ games: done, playouts, seconds }) => bar.update(done, { rate: Math.round(playouts / seconds) }),
      },
      pools,
    );
    return { ...summary, interrupted: interruption.signal.aborted };
  } finally {
    bar.stop();
    interruption.dispose();
  }
}

// biome-ignore format: a row a flag
const FLAGS = {
  games: whole({ min: 1, also: [0, -1, -2], default: -1 }, 'Games in all; 0 or -1 = without end, -2 = as many as the book has'),
  concurrency: whole({ min: 0, default: 0, oldNames: ['parallelism'] }, 'Games played at the same time; 0 = what suits the backend'),
  'leaves-per-game': whole({ min: 0, default: 0 }, 'Leaves that each game evaluates together; 0 = as many as fill the batches'),
  visits: limit(`Visits for each move, those kept from the last move included; ${WHICHEVER}`, { default: null }),
  playouts: limit(`New visits for each move; ${WHICHEVER}`, { default: null }),
  movetime: limit(`Milliseconds for each move; ${WHICHEVER}`, { default: null }),
  'fast-visits': whole({ min: 0, default: 0 }, 'Playout cap randomisation: most moves get this many visits and are not recorded; 0 = off'),
  'full-search-share': number({ min: 0, isMinExcluded: true, max: 1, default: 0.25, goesWith: ['fast-visits'] }, 'share of the moves that get all visits and are recorded'),
  training: onOff('Write training records (lc0 V6)'),
  out: text('Folder for records and results; an existing run there is continued'),
  results: text('Results file, instead of OUT/games.jsonl'),
  pgnout: text('PGN file to append the games to'),
  'tournament-results-file': text('File to append the result to, as lc0 does: [White], [Black], [Results "wins losses draws"]'),
  'policy-mode-size': whole({ min: 0, default: 0 }, 'Games at the same time that are played by the policy alone; 0 = search'),
  'value-mode-size': whole({ min: 0, default: 0 }, 'Games at the same time that are played by the value of each move alone; 0 = search'),
  seed: whole({ min: 0 }, 'Seed; the same seed gives the same games (with --nncache=0 exactly)'),
  'openings-pgn': text('Opening book: PGN, EPD, a list of FENs or Polyglot (.bin), plain, .gz, .zst, .bz2 or .zip'),
  'openings-mode': choice(['sequential', 'shuffled', 'random'], 'sequential', 'order of the openings', { goesWith: ['openings-pgn'] }),
  'mirror-openings': onOff('Play each opening twice, with colours reversed'),
  'opening-stop-prob': number({ min: 0, max: 1, default: 0, goesWith: ['openings-pgn'] }, 'probability, at each book move, that the game leaves the book there'),
  'reuse-tree': onOff('Keep the search tree from move to move'),
  'share-trees': onOff('Both sides search in one tree', true),
  'resign-percentage': number({ min: 0, max: 100, default: 0 }, 'Resign when the win probability in per cent falls below this; 0 = never'),
  'resign-wdlstyle': onOff('end a game when any of win, draw and loss is certain enough', false, { goesWith: ['resign-percentage'] }),
  'resign-earliest-move': whole({ min: 0, default: 0, goesWith: ['resign-percentage'] }, 'first move at which a game may be resigned'),
  'resign-playthrough': number({ min: 0, max: 100, default: 0, goesWith: ['resign-percentage'] }, 'per cent of the games that are never resigned'),
  'minimum-allowed-visits': whole({ min: 0, default: 0 }, 'Draw again when the drawn move has fewer visits than this'),
  'discarded-start-chance': number({ min: 0, max: 100, default: 0, goesWith: ['minimum-allowed-visits'] }, 'per cent of the games that start from a move which it refused'),
  'policy-target-pruning': onOff('records leave out visits that only root noise or forced playouts explain (KataGo)', false, { goesWith: ['training'] }),
  'policy-surprise': number({ min: 0, max: 1, default: 0, goesWith: ['training'] }, 'policy surprise weighting (KataGo takes 0.5): share of a game’s records given to surprising positions'),
  'max-plies': limit('Plies after which a game is drawn', { default: LONGEST_GAME }),
  'move-thinking': onOff('Print info and bestmove of each move, with player, gameid and side', false, { alias: 'verbose-thinking' }),
  player1: keys('Flags of the first player only, such as --player1.weights=FILE --player1.visits=N'),
  player2: keys('Flags of the second player only'),
  white: keys('Flags of the player with White; also --player1.white.NAME'),
  black: keys('Flags of the player with Black; also --player1.black.NAME'),
  json: onOff('Print a summary as JSON instead of lc0’s lines'),
};

type SelfPlayArguments = ValuesOf<typeof FLAGS>;

export const selfPlayCommand = declareCommand({
  command: 'selfplay',
  describe: 'Play a network against itself and write training records',
  flags: FLAGS,
  engineFlags: 'named',
  run: async (args, given) => {
    const pools = new NetworkPools();
    const summary = await runSelfPlay(args, given, pools).finally(() => pools.close());
    if (args.json) printJson(summary);
    if (summary.interrupted && (args.games > 0 || args.games === -2)) {
      printNote(`Interrupted after ${countOf(summary.games, 'game')}`);
      process.exitCode = INTERRUPTED;
    }
  },
});
