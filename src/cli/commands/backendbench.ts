/** `sardonyx backendbench`: evaluations a second by batch size, without a search; lc0's flags and columns. */
import { formatFen } from '../../chess/rules/index.js';
import { createPoolOptions } from '../../engine/app/index.js';
import { type BackendBenchRow, runBackendBench } from '../../networks/nn/index.js';
import { LARGEST_MINIBATCH } from '../../search/index.js';
import { declareCommand, limit, number, onOff, whole, words } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { POSITION_FLAGS, readPosition } from '../search-flags.js';

const HEADER = 'size, mean nps, mean ms,   sdev,     cv, max nps,  median, min nps, first max, first mean';
const ROWS_OF_A_HEADER = 32;
const BATCHES = 100;

export const backendBenchCommand = declareCommand({
  command: 'backendbench [position..]',
  describe: 'Measure evaluations a second by batch size',
  words: { position: words('A FEN, or the word startpos: evaluate it alone; else positions of random games') },
  // biome-ignore format: a row a flag
  flags: {
    batches: limit(`Batches of each size; ${BATCHES} when neither --batches nor --seconds is given`),
    'start-batch-size': whole({ min: 1, max: LARGEST_MINIBATCH, default: 1 }, 'First batch size'),
    'max-batch-size': whole({ min: 1, max: LARGEST_MINIBATCH, default: 256 }, 'Last batch size'),
    'batch-step': whole({ min: 0, max: 256, default: 1 }, 'Step from one size to the next; 0 = double the size'),
    'header-only-once': onOff('Print the names of the columns once'),
    ...POSITION_FLAGS,
    clippy: onOff('Recommend minibatch sizes, by lc0’s formula'),
    seconds: number({ min: 0, isMinExcluded: true }, 'Seconds for each size; with --batches too, whichever comes first'),
    json: onOff('Print the rows as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const batchSizes = listBatchSizes(args['start-batch-size'], args['max-batch-size'], args['batch-step']);
    const { isGiven, position } = readPosition(args);
    const options = await readEngineFlags(given);
    const pool = await createPoolOptions(options, printNote);
    let printed = 0;
    const rows = await runBackendBench({
      pool,
      batchSizes,
      length: readLength(args),
      fen: isGiven ? formatFen(position) : null,
      onRow: (row) => {
        if (args.json) return;
        if (printed === 0 || (!args['header-only-once'] && printed % ROWS_OF_A_HEADER === 0)) printLine(HEADER);
        printLine(formatRow(row));
        printed++;
      },
    });
    const advice = args.clippy ? recommendSizes(rows) : [];
    if (!args.json) for (const line of advice) printLine(line);
    else
      printJson(
        rows.map(({ batchMs, ...row }) => ({ ...row, evaluationsPerSecond: Math.round(row.evaluationsPerSecond) })),
      );
  },
});

function readLength({ batches, seconds }: { batches?: number | null | undefined; seconds?: number | undefined }) {
  if (batches === undefined && seconds === undefined) return { batches: BATCHES };
  if (batches === null && seconds === undefined)
    throw new Error('Give --batches or --seconds: the first size would be measured for ever');
  return { ...(batches == null ? {} : { batches }), ...(seconds === undefined ? {} : { seconds }) };
}

function listBatchSizes(first: number, last: number, step: number): number[] {
  const sizes: number[] = [];
  for (let size = first; size <= last; size = step === 0 ? size * 2 : size + step) sizes.push(size);
  if (sizes.length === 0) throw new Error('--max-batch-size must not be below --start-batch-size');
  return sizes;
}

/** lc0's columns: times of a batch in milliseconds, the first batch of each thread apart from the others. */
function formatRow({ batch, threads, evaluationsPerSecond, batchMs }: BackendBenchRow): string {
  const first = batchMs.slice(0, threads);
  const rest = batchMs.length > threads ? batchMs.slice(threads) : batchMs;
  const sorted = rest.toSorted((a, b) => a - b);
  const mean = sum(rest) / rest.length;
  const deviation = Math.sqrt(sum(rest.map((ms) => (ms - mean) ** 2)) / Math.max(1, rest.length - 1));
  const median = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  const perSecond = (ms: number): string => Math.round((1000 * batch) / ms).toString();
  const columns: [text: string, width: number][] = [
    [String(batch), 4],
    [String(Math.round(evaluationsPerSecond)), 9],
    [mean.toPrecision(4), 8],
    [deviation.toFixed(4), 7],
    [(deviation / mean).toFixed(4), 7],
    [perSecond(sorted[0]), 8],
    [perSecond(median), 8],
    [perSecond(sorted[sorted.length - 1]), 8],
    [Math.max(...first).toFixed(4), 10],
    [(sum(first) / threads).toFixed(4), 11],
  ];
  return columns.map(([text, width]) => text.padStart(width)).join(',');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * Larger batches cost strength, less so the more nodes a move has. A size is taken when its gain in speed outweighs that
 * (lc0: tools/backendbench.cc, fitted to games).
 */
function recommendSizes(rows: readonly BackendBenchRow[]): string[] {
  const games = [
    ['1s/move   (Bullet):     ', 1],
    ['15s/move  (Rapid):      ', 15],
    ['3min/move (Tournament): ', 180],
  ] as const;
  const lines = games.map(([name, seconds]) => {
    let best = { batch: 1, speed: 0 };
    for (const { batch, evaluationsPerSecond: speed } of rows) {
      const nodes = seconds * ((speed + best.speed) / 2) ** 1.085;
      const cost = 0.16947 * Math.exp(-4.1695e-6 * nodes) + 0.02;
      if (cost * (batch - best.batch) * best.speed < (speed - best.speed) * best.batch) best = { batch, speed };
    }
    return `  ${name}${String(best.batch).padStart(4)}`;
  });
  return ['Recommended minibatch-size for this net:', ...lines];
}
