/**
 * `sardonyx label`: an engine's scores of positions, for policy and value training. The engine plays games of its own, or it
 * scores positions of existing files and positions that our search visits from them. Also here: the flags, and the settings that
 * they mean.
 */
import { availableParallelism } from 'node:os';
import { countOf, unwrap } from '../../base/util/index.js';
import { isNetworkName } from '../../engine/weights/index.js';
import { createEngineSpec, type EngineSpec } from '../../games/engines/index.js';
import {
  countPasses,
  createGameJobs,
  createPositionJobs,
  LabelFiles,
  type LabelJob,
  LabelNetwork,
  type LabelSettings,
  openSources,
  openStartBooks,
  PLAYER_RESULTS,
  type PlayerResult,
  type PositionSettings,
  parseStartSource,
  readSources,
  runLabelling,
  type SourceFile,
  type SourceFilter,
} from '../../games/labels/index.js';
import { NetworkPools, parsePlayerWords } from '../../games/play/index.js';
import {
  declareCommand,
  inGroup,
  limit,
  number,
  onOff,
  requiredText,
  text,
  type ValuesOf,
  whole,
  words,
} from '../declare-command.js';
import {
  createProgressBar,
  INTERRUPTED,
  Interruption,
  printBesideBar,
  printJson,
  printLine,
  printNote,
} from '../output.js';
import { createNetworkSetup } from './play/player-network.js';

// The flags of `sardonyx label`, and the settings of a run that they mean, which are compared when a run is resumed.

const EXISTING = 'Positions of existing files (--from):';

// biome-ignore format: a row a flag
const LABEL_FLAGS = {
  engine: requiredText('UCI engine that plays and scores: a program, or "cmd=PROGRAM args=… option.NAME=VALUE"'),
  nodes: whole({ min: 1, default: 4000 }, 'Nodes the engine searches in each position'),
  multipv: whole({ min: 1, default: 5 }, 'Moves the engine scores in each position'),
  games: limit('Number of games; with --from, of games or positions to read', { default: null }),
  seed: whole({ min: 0, default: 1 }, 'Seed of everything that is random'),
  concurrency: whole({ min: 1, default: availableParallelism() }, 'Engine processes that run at the same time'),
  ...inGroup('Games that the engine plays (without --from):', {
    book: words('Where games start, as PATH:WEIGHT:RANDOM-PLIES (a number or a range); may be given several times; "startpos" and "endgames" are built in', { default: ['startpos:1:1-9'] }),
    wander: text('Share of the plies at which one of the scored moves is drawn; each game draws its share from this range', { default: '0.2-0.7' }),
    blunder: text('Share of the plies at which any legal move is drawn', { default: '0-0.1' }),
    temperature: number({ min: 0, isMinExcluded: true, default: 150 }, 'Temperature of the moves drawn by --wander, in centipawns'),
    'resign-score': number({ min: 0, default: 900 }, 'End a game when one side is ahead by this many centipawns for --resign-plies'),
    'resign-plies': whole({ min: 1, default: 5 }, 'Plies in a row for --resign-score'),
    'play-out': number({ min: 0, max: 1, default: 0.25 }, 'Share of the games that --resign-score does not end'),
    'max-plies': whole({ min: 1, default: 260 }, 'Plies after which a game ends'),
  }, { notWith: ['from'] }),
  ...inGroup(EXISTING, {
    from: words('Label the positions of these files instead of playing: games (.pgn, .jsonl) or positions (.epd, .fen), plain, .gz, .zst, .bz2 or .zip; no position is labelled twice'),
  }),
  ...inGroup(EXISTING, {
    player: text('Only games of this player (PGN tags White and Black)'),
    results: text('only games with these results of the player, in this order, such as "lost,drawn"', { default: '', goesWith: ['player'] }),
    'player-to-move': onOff('only positions in which it is the turn of the player', false, { goesWith: ['player'] }),
    sample: number({ min: 0, isMinExcluded: true, max: 1, default: 1 }, 'Share of the plies'),
    'skip-plies': whole({ min: 0, default: 0 }, 'Plies at the start of each game to pass over'),
  }, { goesWith: ['from'] }),
  ...inGroup('Our network:', {
    weights: text('Network whose evaluation without search is compared with each label; the difference is written as "surprise"'),
    backend: text('backend of the network', { goesWith: ['weights'] }),
    leaves: whole({ min: 0, default: 0, goesWith: ['from', 'weights'] }, 'for each ply, label this many random positions of a search that starts there'),
    'leaf-nodes': whole({ min: 2, default: 100, goesWith: ['leaves'] }, 'nodes of that search'),
    roots: onOff('label the plies too; --no-roots labels the leaves only', true, { goesWith: ['leaves'] }),
  }),
  out: requiredText('Folder to write to; an existing run there is continued'),
  prefix: text('First part of the names of the files', { default: 'labels' }),
  'plies-per-file': whole({ min: 1, default: 100_000 }, 'Plies in each file; the default makes files of about 2 MB'),
  json: onOff('Print the summary as JSON'),
};

type LabelArguments = ValuesOf<typeof LABEL_FLAGS>;

function parseRange(flag: string, text: string): readonly [number, number] {
  const match = /^(\d+(?:\.\d+)?|\.\d+)(?:-(\d+(?:\.\d+)?|\.\d+))?$/.exec(text.trim());
  const least = Number(match?.[1]);
  const most = Number(match?.[2] ?? match?.[1]);
  if (match === null || least > most || most > 1)
    throw new Error(`--${flag} needs a share or a range such as 0.1-0.5, not "${text}"`);
  return [least, most];
}

/** @param weights first digits of the hash of the network's file */
function createLabelSettings(args: LabelArguments, weights: string | undefined): LabelSettings {
  return {
    seed: args.seed,
    nodes: args.nodes,
    multiPv: args.multipv,
    wander: parseRange('wander', args.wander),
    blunder: parseRange('blunder', args.blunder),
    temperatureCp: args.temperature,
    resignCp: args['resign-score'],
    resignPlies: args['resign-plies'],
    playOut: args['play-out'],
    maxPlies: args['max-plies'],
    sources: args.book.map((text) => unwrap(parseStartSource(text))),
    ...(weights === undefined ? {} : { weights }),
  };
}

/** @param weights first digits of the hash of the network's file */
function createPositionSettings(
  args: LabelArguments,
  filter: SourceFilter,
  from: readonly SourceFile[],
  weights: string | undefined,
): PositionSettings {
  if (!args.roots && args.leaves === 0) throw new Error('--no-roots needs --leaves, otherwise nothing is labelled');
  return {
    ...filter,
    seed: args.seed,
    nodes: args.nodes,
    multiPv: args.multipv,
    from,
    sample: args.sample,
    skipPlies: args['skip-plies'],
    playerToMove: args['player-to-move'],
    labelsRoots: args.roots,
    leaves: args.leaves,
    leafNodes: args['leaf-nodes'],
    ...(weights === undefined ? {} : { weights }),
  };
}

function parseResults(text: string): PlayerResult[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  for (const word of words) {
    if (!PLAYER_RESULTS.includes(word as PlayerResult)) {
      throw new Error(`--results is a list of ${PLAYER_RESULTS.join(', ')}, not "${word}"`);
    }
  }
  return [...new Set(words)] as PlayerResult[];
}

interface LabelSummary {
  /** Lines on disk: games, and leaves as games of their own. */
  readonly games: number;
  readonly plies: number;
  /** Plies with scores; only with --from. */
  readonly positions?: number;
  /** Plies a second, with --from scored ones. */
  readonly rate: number;
  readonly interrupted: boolean;
}

/** What both ways of labelling share: the open files and the jobs that fill them. */
interface Plan {
  readonly files: LabelFiles;
  readonly jobs: AsyncGenerator<LabelJob, void, void>;
  /** The bar's end, and how far it is. */
  readonly total: number;
  getDone(): number;
  /** Whether everything that was asked for is on disk, once the jobs have ended. */
  isComplete(): boolean;
  readonly barFormat: string;
  readonly countsScored: boolean;
}

const RATE = '{plies} plies, {rate} plies a second, {eta_formatted} left';

function readEngine(text: string): EngineSpec {
  const { spec, rest } = unwrap(createEngineSpec(unwrap(parsePlayerWords(text, isNetworkName))));
  if (rest.length > 0) throw new Error(`--engine knows no "${rest[0][0]}"`);
  return spec;
}

/** Rejects with one sentence. @returns null without --weights */
async function openNetwork(args: LabelArguments, pools: NetworkPools): Promise<LabelNetwork | null> {
  if (args.weights === undefined) return null;
  const flags: [string, string][] = [['weights', args.weights]];
  if (args.backend !== undefined) flags.push(['backend', args.backend]);
  const plain: [string, string][] = [...flags, ['PolicyTemperature', '1']];
  const search = unwrap(await createNetworkSetup(flags, [], printNote));
  const impression = unwrap(await createNetworkSetup(plain, [], printNote));
  return LabelNetwork.open({ search, impression }, pools);
}

async function planGames(args: LabelArguments, network: LabelNetwork | null): Promise<Plan> {
  const settings = createLabelSettings(args, network?.digest ?? undefined);
  const books = unwrap(await openStartBooks(settings.sources));
  const files = unwrap(LabelFiles.open(args.out, args.prefix, settings, args['plies-per-file']));
  const getDone = (): number => files.games;
  return {
    files,
    jobs: createGameJobs(settings, books, network, getDone(), args.games ?? Infinity),
    total: args.games ?? Infinity,
    getDone,
    isComplete: () => getDone() >= (args.games ?? Infinity),
    barFormat: `{bar} {percentage} % of games, {games} games, ${RATE}`,
    countsScored: false,
  };
}

async function planPositions(
  args: LabelArguments,
  from: readonly string[],
  network: LabelNetwork | null,
): Promise<Plan> {
  const filter: SourceFilter = { player: args.player ?? null, results: parseResults(args.results) };
  const opened = unwrap(await openSources(from, filter));
  const settings = createPositionSettings(args, filter, opened, network?.digest ?? undefined);
  const files = unwrap(LabelFiles.open(args.out, args.prefix, settings, args['plies-per-file']));
  let bytes = 0;
  let hasEnded = false;
  const sources = readSources(opened, filter, {
    onBytes: (count) => {
      bytes += count;
    },
    onWarning: printNote,
  });
  const jobs = createPositionJobs({
    sources,
    settings,
    network,
    earlier: files.readRecords(),
    finished: files.finishedSources,
    games: args.games ?? Infinity,
    onWarning: printNote,
  });
  async function* untilTheEnd(): AsyncGenerator<LabelJob, void, void> {
    yield* jobs;
    hasEnded = true;
  }
  return {
    files,
    jobs: untilTheEnd(),
    total: countPasses(filter) * opened.reduce((sum, file) => sum + file.bytes, 0),
    getDone: () => bytes,
    isComplete: () => hasEnded,
    barFormat: `{bar} {percentage} % of the files read, ${RATE}`,
    countsScored: true,
  };
}

async function runLabel(args: LabelArguments): Promise<LabelSummary> {
  const engine = readEngine(args.engine);
  const pools = new NetworkPools();
  try {
    const network = await openNetwork(args, pools);
    const plan = await (args.from.length === 0 ? planGames(args, network) : planPositions(args, args.from, network));
    return await runPlan(args, engine, plan);
  } finally {
    await pools.close();
  }
}

async function runPlan(args: LabelArguments, engine: EngineSpec, plan: Plan): Promise<LabelSummary> {
  const { files } = plan;
  const countPlies = (): number => (plan.countsScored ? files.scored : files.plies);
  const startedAt = performance.now();
  const startPlies = countPlies();
  const describe = (): { games: number; plies: number; rate: number } => {
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round((countPlies() - startPlies) / Math.max(seconds, 0.001));
    return { games: files.games, plies: countPlies(), rate };
  };
  const bar = createProgressBar(plan.barFormat);
  const interruption = new Interruption();
  if (!args.json) bar.start(plan.total, plan.getDone(), describe());
  try {
    await runLabelling({
      engine,
      multiPv: args.multipv,
      files,
      jobs: plan.jobs,
      concurrency: args.concurrency,
      signal: interruption.signal,
      onProgress: () => bar.update(plan.getDone(), describe()),
      onWarning: printBesideBar,
    });
  } finally {
    bar.stop();
    interruption.dispose();
  }
  if (!interruption.signal.aborted && plan.isComplete()) files.finishPart();
  const { games, rate } = describe();
  if (games === 0 && plan.countsScored && !interruption.signal.aborted) {
    throw new Error(`There is no position to label in ${args.from.join(', ')}`);
  }
  const positions = plan.countsScored ? { positions: files.scored } : {};
  return { games, plies: files.plies, ...positions, rate, interrupted: interruption.signal.aborted };
}

export const labelCommand = declareCommand({
  command: 'label',
  describe: 'Write an engine’s scores of positions for training (jsonl.gz): games it plays, or positions of files',
  flags: LABEL_FLAGS,
  run: async (args) => {
    const result = await runLabel(args);
    const { games, plies, positions, rate, interrupted } = result;
    if (interrupted) process.exitCode = INTERRUPTED;
    if (args.json) printJson(result);
    else {
      const counts =
        positions === undefined
          ? `${countOf(games, 'game')}, ${countOf(plies, 'ply', 'plies')}`
          : `${countOf(games, 'line')}, ${countOf(positions, 'position')}`;
      const unit = positions === undefined ? 'plies' : 'positions';
      printLine(`${counts}, ${rate} ${unit} a second${interrupted ? ', interrupted' : ''}`);
    }
  },
});
