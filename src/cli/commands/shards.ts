/**
 * `sardonyx shards`: makes Arrow files for the training scripts from games.
 */
import { availableParallelism } from 'node:os';
import type { CommandModule } from 'yargs';
import { createShards, parseSplitShares, type ShardsSummary } from '../../data/index.js';
import type { HistoryFill } from '../../encoding/index.js';
import { wholeFlag } from '../number-flag.js';
import { createProgressBar, printJson, printLine } from '../output.js';
import { writeNote } from '../stdout-writer.js';

interface ShardsArguments {
  inputs?: string[];
  out: string;
  encoding: string;
  policy: string;
  'history-fill': string;
  'min-elo': number;
  'skip-plies': number;
  split: string | undefined;
  'validation-files': string[];
  'test-files': string[];
  positions: number;
  threads: number;
  json: boolean;
}

const BAR_FORMAT = '{bar} {percentage} % of input, {positions} positions, {rate} a second, {eta_formatted} left';

function describe(summary: ShardsSummary, seconds: number): string {
  const { positions, games, damaged, newPositions } = summary;
  const counts = `train ${positions.train}, validation ${positions.validation}, test ${positions.test}`;
  const skipped = damaged > 0 ? `, ${damaged} damaged and skipped` : '';
  const rate = Math.round(newPositions / seconds);
  return `${games} games${skipped}; positions: ${counts}; ${newPositions} of them new, ${rate} a second`;
}

export const shardsCommand: CommandModule<object, ShardsArguments> = {
  command: 'shards <inputs..>',
  describe: 'Make training shards (Arrow files) from labelled games, PGN or lc0 records',
  builder: (yargs) =>
    yargs
      .positional('inputs', {
        type: 'string',
        array: true,
        describe:
          'Labelled games (.jsonl) or PGN, plain, .gz, .zst, .bz2 or .zip; lc0 records (.gz, .tar, .tar.gz); folders of these',
      })
      .option('out', {
        type: 'string',
        demandOption: true,
        describe: 'Folder to write train/, validation/ and test/ in',
      })
      .option('encoding', { type: 'string', default: 'lc0-112', describe: 'Encoding of the input planes' })
      .option('policy', { type: 'string', default: 'lc0-1858', describe: 'Numbering of the moves' })
      .option('history-fill', {
        choices: ['no', 'fen_only', 'always'],
        default: 'fen_only',
        describe: 'What fills the planes of positions before the first one',
      })
      .option(
        ...wholeFlag('min-elo', {
          min: 0,
          default: 0,
          describe: 'Of PGN files, take games in which both players have at least this rating',
        }),
      )
      .option(
        ...wholeFlag('skip-plies', {
          min: 0,
          default: 0,
          describe: 'Plies at the start of each game to leave out',
        }),
      )
      .option('split', {
        type: 'string',
        describe: 'Shares of the games for train/validation/test; 96/2/2 by default, 100/0/0 when files are held out',
      })
      .option('validation-files', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        describe: 'Hold out files whose names contain this text for validation; may be given several times',
      })
      .option('test-files', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [],
        describe: 'Hold out files whose names contain this text for the test',
      })
      .option(
        ...wholeFlag('positions', {
          min: 1,
          default: Number.POSITIVE_INFINITY,
          defaultDescription: 'all',
          describe: 'Stop after about this many positions',
        }),
      )
      .option(...wholeFlag('threads', { min: 1, default: availableParallelism(), describe: 'Worker threads' }))
      .option('json', { type: 'boolean', default: false, describe: 'Print the summary as JSON' }) as never,
  handler: async (args) => {
    const holdsOutFiles = args['validation-files'].length + args['test-files'].length > 0;
    const shares = parseSplitShares(args.split ?? (holdsOutFiles ? '100/0/0' : '96/2/2'));
    if (!shares.ok) return fail(shares.error);
    const startedAt = performance.now();
    const bar = createProgressBar(BAR_FORMAT, { etaBuffer: 100 });
    const secondsSoFar = (): number => (performance.now() - startedAt) / 1000;
    let isBarShown = false;
    const result = await createShards(
      {
        inputs: args.inputs ?? [],
        folder: args.out,
        input: args.encoding,
        policy: args.policy,
        historyFill: args['history-fill'] as HistoryFill,
        shares: shares.value,
        filter: { minElo: args['min-elo'], skipPlies: args['skip-plies'] },
        validationFiles: args['validation-files'],
        testFiles: args['test-files'],
        maxPositions: args.positions,
        threads: args.threads,
      },
      {
        onProgress(bytesDone, bytesTotal, positions) {
          if (!isBarShown) bar.start(bytesTotal, bytesDone, { positions, rate: 0 });
          isBarShown = true;
          bar.update(bytesDone, { positions, rate: Math.round(positions / secondsSoFar()) });
        },
        onWarning: (text) => writeNote(`${isBarShown ? '\n' : ''}${text}`),
      },
    );
    if (isBarShown) bar.stop();
    if (!result.ok) return fail(result.error);
    if (countPositions(result.value) === 0) return fail('No position could be taken from the inputs');
    const seconds = secondsSoFar();
    if (args.json) printJson({ ...result.value, seconds });
    else printLine(describe(result.value, seconds));
  },
};

function countPositions({ positions }: ShardsSummary): number {
  return positions.train + positions.validation + positions.test;
}

function fail(sentence: string): void {
  writeNote(sentence);
  process.exitCode = 1;
}
