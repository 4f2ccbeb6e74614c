/** `sardonyx backendbench`: evaluations a second by batch size, without a search. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { createPoolOptions } from '../../app/index.js';
import { type BackendBenchRow, runBackendBench } from '../../nn/index.js';
import { LARGEST_MINIBATCH } from '../../search/index.js';
import { addEngineFlags, readEngineFlags } from '../engine-flags.js';
import { numberFlag, wholeFlag } from '../number-flag.js';
import { printJson, printLine, printNote } from '../output.js';

interface BackendBenchArguments {
  'start-batch-size': number;
  'max-batch-size': number;
  'batch-step': number;
  seconds: number;
  json: boolean;
}

export const backendBenchCommand: CommandModule<object, BackendBenchArguments> = {
  command: 'backendbench',
  describe: 'Measure evaluations a second by batch size',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .option(
        ...wholeFlag('start-batch-size', { min: 1, max: LARGEST_MINIBATCH, default: 1, describe: 'First batch size' }),
      )
      .option(
        ...wholeFlag('max-batch-size', { min: 1, max: LARGEST_MINIBATCH, default: 64, describe: 'Last batch size' }),
      )
      .option(
        ...wholeFlag('batch-step', {
          min: 0,
          default: 0,
          describe: 'Step from one size to the next; 0 = double the size',
        }),
      )
      .option(...numberFlag('seconds', { min: 0, isMinExcluded: true, default: 1, describe: 'Seconds for each size' }))
      .option('json', { type: 'boolean', default: false, describe: 'Print the rows as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<BackendBenchArguments>) => {
    const batchSizes = listBatchSizes(args['start-batch-size'], args['max-batch-size'], args['batch-step']);
    const options = await readEngineFlags(args);
    const pool = await createPoolOptions(options, printNote);
    if (!args.json) printLine('batch threads evaluations/s');
    const rows = await runBackendBench({
      pool,
      batchSizes,
      secondsPerBatch: args.seconds,
      onRow: (row) => {
        if (!args.json) printLine(formatRow(row));
      },
    });
    if (args.json)
      printJson(rows.map((row) => ({ ...row, evaluationsPerSecond: Math.round(row.evaluationsPerSecond) })));
  },
};

function listBatchSizes(first: number, last: number, step: number): number[] {
  const sizes: number[] = [];
  for (let size = first; size <= last; size = step === 0 ? size * 2 : size + step) sizes.push(size);
  if (sizes.length === 0) throw new Error('--max-batch-size must not be below --start-batch-size');
  return sizes;
}

function formatRow({ batch, threads, evaluationsPerSecond }: BackendBenchRow): string {
  return `${String(batch).padStart(5)} ${String(threads).padStart(7)} ${Math.round(evaluationsPerSecond)}`;
}
