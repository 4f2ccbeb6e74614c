/** `sardonyx backendbench`: evaluations a second by batch size, without a search. */
import { createPoolOptions } from '../../app/index.js';
import { type BackendBenchRow, runBackendBench } from '../../nn/index.js';
import { LARGEST_MINIBATCH } from '../../search/index.js';
import { declareCommand, number, toggle, whole } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';

export const backendBenchCommand = declareCommand({
  command: 'backendbench',
  describe: 'Measure evaluations a second by batch size',
  // biome-ignore format: a row a flag
  flags: {
    'start-batch-size': whole({ min: 1, max: LARGEST_MINIBATCH, default: 1 }, 'First batch size'),
    'max-batch-size': whole({ min: 1, max: LARGEST_MINIBATCH, default: 64 }, 'Last batch size'),
    'batch-step': whole({ min: 0, default: 0 }, 'Step from one size to the next; 0 = double the size'),
    seconds: number({ min: 0, isMinExcluded: true, default: 1 }, 'Seconds for each size'),
    json: toggle('Print the rows as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const batchSizes = listBatchSizes(args['start-batch-size'], args['max-batch-size'], args['batch-step']);
    const options = await readEngineFlags(given);
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
});

function listBatchSizes(first: number, last: number, step: number): number[] {
  const sizes: number[] = [];
  for (let size = first; size <= last; size = step === 0 ? size * 2 : size + step) sizes.push(size);
  if (sizes.length === 0) throw new Error('--max-batch-size must not be below --start-batch-size');
  return sizes;
}

function formatRow({ batch, threads, evaluationsPerSecond }: BackendBenchRow): string {
  return `${String(batch).padStart(5)} ${String(threads).padStart(7)} ${Math.round(evaluationsPerSecond)}`;
}
