/**
 * `sardonyx label`: an engine's scores of positions, for policy and value training. The engine plays games of its own, or it
 * scores positions of existing files and positions that our search visits from them.
 */
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
  openSources,
  openStartBooks,
  readSources,
  runLabelling,
  type SourceFilter,
} from '../../games/labels/index.js';
import { NetworkPools, parsePlayerWords } from '../../games/play/index.js';
import { declareCommand } from '../declare-command.js';
import {
  createProgressBar,
  INTERRUPTED,
  Interruption,
  printBesideBar,
  printJson,
  printLine,
  printNote,
} from '../output.js';
import {
  createLabelSettings,
  createPositionSettings,
  LABEL_FLAGS,
  type LabelArguments,
  parseResults,
} from './label-flags.js';
import { createNetworkSetup } from './play/player-network.js';

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
