/**
 * Self-tuning: searches bench positions briefly with one setting after another and takes the fastest. It varies the
 * minibatch first, then the threads, then the batches in flight, each time with the best values found so far: they hardly
 * depend on each other, and trying all combinations would take minutes. On a busy machine one of ten settings may win by
 * chance, so the winner must beat the engine's default again in alternating runs, else the default stays. Speed is measured in
 * nodes a second, starting from an empty tree and cache.
 */
import { Analyst, type EnginePorts, type NetworkPort } from '../../../engine/index.js';
import type { SpeedSettings } from '../../../networks/index.js';
import { getBackendName } from '../../../nn/index.js';
import type { OptionStore } from '../../../options/index.js';
import { LARGEST_MINIBATCH } from '../../../search/index.js';
import { unwrap } from '../../../util/index.js';
import { BENCH_POSITIONS } from '../bench/bench-run.js';

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
      analyst.newGame();
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
    await analyst.dispose();
  }
}
