/**
 * `sardonyx label`: games with an engine's scores at every ply, for policy and value training.
 */
import { availableParallelism } from 'node:os';
import type { CommandModule } from 'yargs';
import {
  createEngineSpec,
  EngineError,
  LabelFiles,
  type LabelSettings,
  openStartBooks,
  parsePairs,
  parseStartSource,
  runLabelling,
} from '../../selfplay/index.js';
import { failure, type Result, success } from '../../util/index.js';
import { numberFlag, wholeFlag } from '../number-flag.js';
import { createProgressBar, INTERRUPTED, printJson, printLine, printNote } from '../output.js';

interface LabelArguments {
  engine: string;
  out: string;
  prefix: string;
  games: number;
  book: string[];
  nodes: number;
  multipv: number;
  wander: string;
  blunder: string;
  temperature: number;
  'resign-score': number;
  'resign-plies': number;
  'play-out': number;
  'max-plies': number;
  'plies-per-file': number;
  concurrency: number;
  seed: number;
  json: boolean;
}

interface LabelSummary {
  readonly games: number;
  readonly plies: number;
  /** Plies a second. */
  readonly rate: number;
  readonly interrupted: boolean;
}

const BAR_FORMAT =
  '{bar} {percentage} % of games, {games} games, {plies} plies, {rate} plies a second, {eta_formatted} left';

function parseRange(flag: string, text: string): Result<readonly [number, number]> {
  const match = /^(\d*\.?\d+)(?:-(\d*\.?\d+))?$/.exec(text.trim());
  const least = Number(match?.[1]);
  const most = Number(match?.[2] ?? match?.[1]);
  if (match === null || least > most || most > 1)
    return failure(`--${flag} needs a share or a range such as 0.1-0.5, not "${text}"`);
  return success([least, most]);
}

function createLabelSettings(args: LabelArguments): Result<LabelSettings> {
  const wander = parseRange('wander', args.wander);
  if (!wander.ok) return wander;
  const blunder = parseRange('blunder', args.blunder);
  if (!blunder.ok) return blunder;
  const sources: LabelSettings['sources'][number][] = [];
  for (const text of args.book) {
    const source = parseStartSource(text);
    if (!source.ok) return source;
    sources.push(source.value);
  }
  return success({
    seed: args.seed,
    nodes: args.nodes,
    multiPv: args.multipv,
    wander: wander.value,
    blunder: blunder.value,
    temperatureCp: args.temperature,
    resignCp: args['resign-score'],
    resignPlies: args['resign-plies'],
    playOut: args['play-out'],
    maxPlies: args['max-plies'],
    sources,
  });
}

async function runLabel(args: LabelArguments): Promise<Result<LabelSummary>> {
  const settings = createLabelSettings(args);
  if (!settings.ok) return settings;
  const pairs = parsePairs(args.engine.includes('=') ? args.engine : `cmd="${args.engine}"`);
  if (!pairs.ok) return pairs;
  const engine = createEngineSpec(pairs.value);
  if (!engine.ok) return engine;
  if (engine.value.rest.length > 0) return failure(`--engine knows no "${engine.value.rest[0][0]}"`);
  const books = openStartBooks(settings.value.sources);
  if (!books.ok) return books;
  const files = LabelFiles.open(args.out, args.prefix, settings.value, args['plies-per-file']);
  if (!files.ok) return files;

  const startedAt = performance.now();
  const startPlies = files.value.plies;
  const bar = createProgressBar(BAR_FORMAT);
  const describe = (games: number, plies: number): Omit<LabelSummary, 'interrupted'> => {
    const seconds = (performance.now() - startedAt) / 1000;
    return { games, plies, rate: Math.round((plies - startPlies) / Math.max(seconds, 0.001)) };
  };
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  if (!args.json) bar.start(args.games, files.value.games, describe(files.value.games, files.value.plies));
  try {
    await runLabelling({
      engine: engine.value.spec,
      settings: settings.value,
      books: books.value,
      files: files.value,
      games: args.games,
      concurrency: args.concurrency,
      signal: abort.signal,
      onProgress: (games, plies) => bar.update(games, describe(games, plies)),
      onWarning: (text) => printNote(`\n${text}`),
    });
  } catch (error) {
    if (error instanceof EngineError) return failure(error.message);
    throw error;
  } finally {
    bar.stop();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  if (files.value.games >= args.games) files.value.finishPart();
  return success({ ...describe(files.value.games, files.value.plies), interrupted: abort.signal.aborted });
}

export const labelCommand: CommandModule<object, LabelArguments> = {
  command: 'label',
  describe: 'Play games with an engine and write its scores of every position, for training (jsonl.gz)',
  builder: (yargs) =>
    yargs
      .option('engine', {
        type: 'string',
        demandOption: true,
        describe: 'UCI engine that plays and scores: a program, or "cmd=PROGRAM args=… option.NAME=VALUE"',
      })
      .option('out', {
        type: 'string',
        demandOption: true,
        describe: 'Folder to write to; an existing run there is continued',
      })
      .option('prefix', { type: 'string', default: 'labels', describe: 'First part of the names of the files' })
      .option(
        ...wholeFlag('games', {
          min: 1,
          default: Number.POSITIVE_INFINITY,
          defaultDescription: 'no end',
          describe: 'Games in all',
        }),
      )
      .option('book', {
        type: 'string',
        array: true,
        default: ['startpos:1:1-9'],
        describe:
          'Where games start, as PATH:WEIGHT:RANDOM-PLIES (a number or a range); may be given several times; "startpos" and "endgames" are built in',
      })
      .option(...wholeFlag('nodes', { min: 1, default: 4000, describe: 'Nodes the engine searches in each position' }))
      .option(...wholeFlag('multipv', { min: 1, default: 5, describe: 'Moves the engine scores in each position' }))
      .option('wander', {
        type: 'string',
        default: '0.2-0.7',
        describe:
          'Share of the plies at which one of the scored moves is drawn; each game draws its share from this range',
      })
      .option('blunder', {
        type: 'string',
        default: '0-0.1',
        describe: 'Share of the plies at which any legal move is drawn',
      })
      .option(
        ...numberFlag('temperature', {
          min: 0,
          isMinExcluded: true,
          default: 150,
          describe: 'Temperature of the moves drawn by --wander, in centipawns',
        }),
      )
      .option(
        ...numberFlag('resign-score', {
          min: 0,
          default: 900,
          describe: 'End a game when one side is ahead by this many centipawns …',
        }),
      )
      .option(...wholeFlag('resign-plies', { min: 1, default: 5, describe: '… for this many plies in a row' }))
      .option(
        ...numberFlag('play-out', {
          min: 0,
          max: 1,
          default: 0.25,
          describe: 'Share of the games that are played out, whatever the score',
        }),
      )
      .option(...wholeFlag('max-plies', { min: 1, default: 260, describe: 'Plies after which a game ends' }))
      .option(
        ...wholeFlag('plies-per-file', {
          min: 1,
          default: 100_000,
          describe: 'Plies in each file; the default makes files of about 2 MB',
        }),
      )
      .option(
        ...wholeFlag('concurrency', {
          min: 1,
          default: availableParallelism(),
          describe: 'Engine processes that run at the same time',
        }),
      )
      .option(...wholeFlag('seed', { min: 0, default: 1, describe: 'Seed of everything that is random' }))
      .option('json', { type: 'boolean', default: false, describe: 'Print the summary as JSON' }) as never,
  handler: async (args) => {
    const result = await runLabel(args);
    if (!result.ok) throw new Error(result.error);
    const { games, plies, rate, interrupted } = result.value;
    if (interrupted) process.exitCode = INTERRUPTED;
    if (args.json) printJson(result.value);
    else printLine(`${games} games, ${plies} plies, ${rate} plies a second${interrupted ? ', interrupted' : ''}`);
  },
};
