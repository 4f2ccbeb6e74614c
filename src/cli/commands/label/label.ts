/**
 * `sardonyx label`: an engine's scores of positions, for policy and value training. The engine plays games of its own, or it
 * scores positions of existing files and positions that our search visits from them.
 */
import {
  countPasses,
  createEngineSpec,
  createGameJobs,
  createPositionJobs,
  EngineError,
  type EngineSpec,
  LabelFiles,
  type LabelJob,
  LabelNetwork,
  NetworkPools,
  openSources,
  openStartBooks,
  parsePlayerWords,
  readSources,
  runLabelling,
} from '../../../selfplay/index.js';
import { failure, type Result, success, unwrap } from '../../../util/index.js';
import { declareCommand } from '../../declare-command.js';
import { createProgressBar, INTERRUPTED, printJson, printLine, printNote } from '../../output.js';
import { createNetworkSetup } from '../play/player-network.js';
import {
  createLabelSettings,
  createPositionSettings,
  createSourceFilter,
  LABEL_FLAGS,
  type LabelArguments,
} from './label-flags.js';

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

function readEngine(text: string): Result<EngineSpec> {
  const pairs = parsePlayerWords(text);
  if (!pairs.ok) return pairs;
  const engine = createEngineSpec(pairs.value);
  if (!engine.ok) return engine;
  if (engine.value.rest.length > 0) return failure(`--engine knows no "${engine.value.rest[0][0]}"`);
  return success(engine.value.spec);
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

async function planGames(args: LabelArguments, network: LabelNetwork | null): Promise<Result<Plan>> {
  if (args.leaves > 0) return failure('--leaves needs --from: leaves are searched from positions of existing files');
  const settings = createLabelSettings(args, network?.digest ?? undefined);
  if (!settings.ok) return settings;
  const books = await openStartBooks(settings.value.sources);
  if (!books.ok) return books;
  const files = LabelFiles.open(args.out, args.prefix, settings.value, args['plies-per-file']);
  if (!files.ok) return files;
  const getDone = (): number => files.value.games;
  return success({
    files: files.value,
    jobs: createGameJobs(settings.value, books.value, network, getDone(), args.games),
    total: args.games,
    getDone,
    isComplete: () => getDone() >= args.games,
    barFormat: `{bar} {percentage} % of games, {games} games, ${RATE}`,
    countsScored: false,
  });
}

async function planPositions(
  args: LabelArguments,
  from: readonly string[],
  network: LabelNetwork | null,
): Promise<Result<Plan>> {
  const filter = createSourceFilter(args);
  const opened = await openSources(from, filter);
  if (!opened.ok) return opened;
  const settings = createPositionSettings(args, opened.value, network?.digest ?? undefined);
  if (!settings.ok) return settings;
  const files = LabelFiles.open(args.out, args.prefix, settings.value, args['plies-per-file']);
  if (!files.ok) return files;
  let bytes = 0;
  let hasEnded = false;
  const sources = readSources(opened.value, filter, {
    onBytes: (count) => {
      bytes += count;
    },
    onWarning: printNote,
  });
  const jobs = createPositionJobs({
    sources,
    settings: settings.value,
    network,
    earlier: files.value.readRecords(),
    finished: files.value.finishedSources,
    games: args.games,
    onWarning: printNote,
  });
  async function* untilTheEnd(): AsyncGenerator<LabelJob, void, void> {
    yield* jobs;
    hasEnded = true;
  }
  return success({
    files: files.value,
    jobs: untilTheEnd(),
    total: countPasses(filter) * opened.value.reduce((sum, file) => sum + file.bytes, 0),
    getDone: () => bytes,
    isComplete: () => hasEnded,
    barFormat: `{bar} {percentage} % of the files read, ${RATE}`,
    countsScored: true,
  });
}

async function runLabel(args: LabelArguments): Promise<Result<LabelSummary>> {
  const engine = readEngine(args.engine);
  if (!engine.ok) return engine;
  const pools = new NetworkPools();
  try {
    const network = await openNetwork(args, pools);
    const plan = await (args.from.length === 0 ? planGames(args, network) : planPositions(args, args.from, network));
    return plan.ok ? await runPlan(args, engine.value, plan.value) : plan;
  } catch (error) {
    if (error instanceof EngineError) return failure(error.message);
    throw error;
  } finally {
    await pools.close();
  }
}

async function runPlan(args: LabelArguments, engine: EngineSpec, plan: Plan): Promise<Result<LabelSummary>> {
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
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  if (!args.json) bar.start(plan.total, plan.getDone(), describe());
  try {
    await runLabelling({
      engine,
      multiPv: args.multipv,
      files,
      jobs: plan.jobs,
      concurrency: args.concurrency,
      signal: abort.signal,
      onProgress: () => bar.update(plan.getDone(), describe()),
      onWarning: (text) => printNote(`\n${text}`),
    });
  } finally {
    bar.stop();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  if (!abort.signal.aborted && plan.isComplete()) files.finishPart();
  const { games, rate } = describe();
  const positions = plan.countsScored ? { positions: files.scored } : {};
  return success({ games, plies: files.plies, ...positions, rate, interrupted: abort.signal.aborted });
}

export const labelCommand = declareCommand({
  command: 'label',
  describe: 'Write an engine’s scores of positions for training (jsonl.gz): games it plays, or positions of files',
  flags: LABEL_FLAGS,
  run: async (args) => {
    const result = await runLabel(args);
    if (!result.ok) throw new Error(result.error);
    const { games, plies, positions, rate, interrupted } = result.value;
    if (interrupted) process.exitCode = INTERRUPTED;
    if (args.json) printJson(result.value);
    else {
      const counts =
        positions === undefined ? `${games} games, ${plies} plies` : `${games} lines, ${positions} positions`;
      const unit = positions === undefined ? 'plies' : 'positions';
      printLine(`${counts}, ${rate} ${unit} a second${interrupted ? ', interrupted' : ''}`);
    }
  },
});
