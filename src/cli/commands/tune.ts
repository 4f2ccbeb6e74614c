/** `sardonyx tune`: measures and saves the fastest threads and batches for a network on this machine. */

import type { OptionStore } from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import { createNetwork, enginePorts } from '../../engine/app/index.js';
import { Analyst, type EnginePorts, type NetworkPort } from '../../engine/core/index.js';
import { createTuningKey, isFileless, isTunable, type SpeedSettings, saveTuning } from '../../engine/weights/index.js';
import { getBackendName } from '../../networks/nn/index.js';
import { LARGEST_MINIBATCH } from '../../search/index.js';
import { declareCommand, number, onOff } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { BENCH_POSITIONS } from './bench.js';

export const tuneCommand = declareCommand({
  command: 'tune',
  describe: 'Measure the fastest number of threads and batch size for a network on this machine, and save them',
  // biome-ignore format: a row a flag
  flags: {
    seconds: number({ min: 0, isMinExcluded: true, default: 20 }, 'Seconds of searching, without the time for loading'),
    save: onOff('Save the result in the user’s config folder', true),
    json: onOff('Print the result as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const options = await readEngineFlags(given);
    const fileless = isFileless(options);
    if (!fileless && !isTunable(options)) {
      throw new Error('tune chooses --threads, --minibatch-size and --batches-in-flight: leave them out');
    }
    const key = fileless ? null : await createTuningKey(options);
    const say = args.json ? printNote : printLine;
    say('threads minibatch batches-in-flight nodes/s');
    const { rows, best, defaultNodesPerSecond } = await runTune(
      options,
      { ...enginePorts, createNetwork },
      args.seconds,
      (row) => say(formatRow(row)),
    );
    let file: string | null = null;
    if (args.save && key !== null) {
      const saved = saveTuning({
        ...key,
        ...best,
        defaultNodesPerSecond,
        date: new Date().toISOString().slice(0, 10),
      });
      if (saved.ok) file = saved.value;
      else {
        printNote(saved.error);
        process.exitCode = 1;
      }
    }
    if (args.json) {
      printJson({ ...key, best, rows, file });
      return;
    }
    const flags = `--threads=${best.threads} --minibatch-size=${best.minibatch} --batches-in-flight=${best.batchesInFlight}`;
    const isOwn = best.threads === rows[0].threads && countLeaves(best) === countLeaves(rows[0]);
    // The default's speed is that of the same runs, or chance would decide the comparison.
    const slower =
      best.nodesPerSecond < defaultNodesPerSecond
        ? '; within a few per cent of the default, with fewer leaves in flight'
        : '';
    const comparison = isOwn ? 'the default' : `default: ${defaultNodesPerSecond}${slower}`;
    printLine(`Best: ${flags}, ${best.nodesPerSecond} nodes/s (${comparison})`);
    if (file !== null) printLine(`Saved in ${file}; used when none of the three is set`);
  },
});

function formatRow({ threads, minibatch, batchesInFlight, nodesPerSecond }: TuneRow): string {
  const cells = [`${threads}`.padStart(7), `${minibatch}`.padStart(9), `${batchesInFlight}`.padStart(17)];
  return `${cells.join(' ')} ${nodesPerSecond}`;
}

/**
 * Self-tuning: searches bench positions briefly with one setting after another and takes the fastest. It varies the
 * minibatch first, then the threads, then the batches in flight, each time with the best values found so far: they hardly
 * depend on each other, and trying all combinations would take minutes. On a busy machine one of ten settings may win by
 * chance, so the winner must beat the engine's default again in alternating runs, else the default stays. Speed is measured in
 * nodes a second, starting from an empty tree and cache.
 */

export interface TuneRow extends SpeedSettings {
  readonly nodesPerSecond: number;
}

export interface TuneResult {
  /** In the order of measuring; the first is the engine's default. */
  readonly rows: readonly TuneRow[];
  readonly best: TuneRow;
  /** The default's speed, measured as the best one's was: in the repeated runs if there were any. */
  readonly defaultNodesPerSecond: number;
}

/** A setting slower by no more than this share counts as equal: repeated measurements differ by as much. */
const TOLERANCE = 0.04;
const POSITIONS = 4;
const RETURN_ROUNDS = 2;
/** Upper bound of measurements, the repeated ones included; the time is divided among them. */
const MOST_MEASUREMENTS = 10 + 2 * RETURN_ROUNDS;
const MOST_THREADS = 128;

/** @param measure nodes a second with these settings */
export async function chooseSettings(
  initial: SpeedSettings,
  measure: (settings: SpeedSettings) => Promise<number>,
  onRow: (row: TuneRow) => void,
): Promise<TuneResult> {
  const rows: TuneRow[] = [];
  const visit = async (settings: SpeedSettings): Promise<void> => {
    if (rows.some((row) => countDifferences(row, settings) === 0)) return;
    const row = { ...settings, nodesPerSecond: await measure(settings) };
    rows.push(row);
    onRow(row);
  };
  await visit(initial);
  const { minibatch, threads } = initial;
  for (const size of [minibatch / 2, 2 * minibatch, 4 * minibatch]) {
    await visit({ ...initial, minibatch: Math.min(LARGEST_MINIBATCH, Math.max(1, Math.trunc(size))) });
  }
  for (const count of [Math.trunc(threads / 2), threads - 1, threads + 1]) {
    if (count < 1 || count > MOST_THREADS) continue;
    await visit({ ...findBest(rows), threads: count, batchesInFlight: count + 1 });
  }
  const best = findBest(rows);
  for (const batches of [best.threads, best.threads + 2, 2 * best.threads + 1]) {
    await visit({ ...findBest(rows), batchesInFlight: batches });
  }
  return { rows, ...(await confirm(rows[0], findBest(rows), measure)) };
}

/** The candidate with its speed in the repeated runs, or the incumbent if the candidate does not win those too. */
async function confirm(
  incumbent: TuneRow,
  candidate: TuneRow,
  measure: (settings: SpeedSettings) => Promise<number>,
): Promise<Omit<TuneResult, 'rows'>> {
  if (candidate === incumbent) return { best: incumbent, defaultNodesPerSecond: incumbent.nodesPerSecond };
  let [own, other] = [0, 0];
  for (let round = 0; round < RETURN_ROUNDS; round++) {
    own = Math.max(own, await measure(incumbent));
    other = Math.max(other, await measure(candidate));
  }
  const isBetter =
    countLeaves(candidate) < countLeaves(incumbent) ? other >= own * (1 - TOLERANCE) : other > own * (1 + TOLERANCE);
  const best = isBetter ? { ...candidate, nodesPerSecond: other } : { ...incumbent, nodesPerSecond: own };
  return { best, defaultNodesPerSecond: own };
}

function countDifferences(a: SpeedSettings, b: SpeedSettings): number {
  return (['threads', 'minibatch', 'batchesInFlight'] as const).filter((name) => a[name] !== b[name]).length;
}

/** Among the settings nearly as fast as the fastest, the one with the fewest leaves in flight: it is closest to sequential search. */
function findBest(rows: readonly TuneRow[]): TuneRow {
  const fastest = Math.max(...rows.map((row) => row.nodesPerSecond));
  const good = rows.filter((row) => row.nodesPerSecond >= fastest * (1 - TOLERANCE));
  return good.reduce((best, row) => (countLeaves(row) < countLeaves(best) ? row : best));
}

/** Leaves in flight at the same time. */
export function countLeaves({ minibatch, batchesInFlight }: SpeedSettings): number {
  return minibatch * batchesInFlight;
}

/** Rejects with one sentence when the network does not load on the requested backend. */
export async function runTune(
  options: OptionStore,
  ports: EnginePorts,
  seconds: number,
  onRow: (row: TuneRow) => void,
): Promise<TuneResult> {
  options.set('SmartPruningFactor', '0');
  const analyst = new Analyst(options, ports);
  const wanted = unwrap(getBackendName(options.getString('Backend'), options.getString('BackendOptions')));
  const load = async (): Promise<NetworkPort> => {
    const network = await analyst.load();
    if (network.backend === wanted) return network;
    throw new Error(`Backend ${wanted} does not work here: tune --backend=${network.backend}, to which it falls back`);
  };
  const moveTimeMs = Math.max(20, Math.round((1000 * seconds) / MOST_MEASUREMENTS / POSITIONS));
  const measure = async ({ threads, minibatch, batchesInFlight }: SpeedSettings): Promise<number> => {
    options.set('Threads', `${threads}`);
    options.set('MinibatchSize', `${minibatch}`);
    options.set('BatchesInFlight', `${batchesInFlight}`);
    await load();
    let nodes = 0;
    let timeMs = 0;
    for (const fen of BENCH_POSITIONS.slice(0, POSITIONS)) {
      analyst.engine.newGame();
      const { report } = await analyst.search(fen, [], { moveTimeMs });
      nodes += report.nodes;
      timeMs += report.timeMs;
    }
    await load();
    return Math.round((1000 * nodes) / Math.max(1, timeMs));
  };
  try {
    const { handle } = await load();
    const initial = { threads: handle.workers, minibatch: handle.minibatch, batchesInFlight: handle.workers + 1 };
    return await chooseSettings(initial, measure, onRow);
  } finally {
    await analyst.engine.dispose();
  }
}
