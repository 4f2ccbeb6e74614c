/**
 * Measures how many positions a second a pool evaluates when only the pool limits it: the threads, ring and slots of a search,
 * fed with positions of seeded random games, without cache. It is the upper limit of a search's speed.
 */
import { nextTurn } from '#platform/threads.js';
import { createPrng } from '../../base/util/index.js';
import { MAX_MOVES, type Move, Position, START_FEN } from '../../chess/rules/index.js';
import { countBusyLeaves, EVALUATED, LeafQueue } from '../leaves/index.js';
import { EvaluatorPool, type PoolOptions } from './pool/evaluator-pool.js';

export interface BackendBenchOptions {
  /** Its minibatch and cache are not used. */
  readonly pool: PoolOptions;
  readonly batchSizes: readonly number[];
  /** Batches of each size, seconds for each size, or both: whichever come first. */
  readonly length: { readonly batches?: number; readonly seconds?: number };
  /** All evaluations are of this position; null = of positions of random games. */
  readonly fen: string | null;
  readonly onRow?: (row: BackendBenchRow) => void;
}

export interface BackendBenchRow {
  readonly batch: number;
  readonly threads: number;
  readonly backend: string;
  readonly evaluations: number;
  readonly seconds: number;
  readonly evaluationsPerSecond: number;
  /** Milliseconds from one finished batch to the next, those of all threads counted together. */
  readonly batchMs: readonly number[];
}

const WARM_UP_SHARE = 0.2;
const WARM_UP_BATCHES = 2;
const BENCH_POSITIONS = 4096;

export async function runBackendBench(options: BackendBenchOptions): Promise<BackendBenchRow[]> {
  const largest = Math.max(...options.batchSizes);
  const pool = await EvaluatorPool.create({ ...options.pool, minibatch: largest, cachePositions: 0, cacheMb: 0 });
  const rows: BackendBenchRow[] = [];
  try {
    const queue = new LeafQueue(pool.handle);
    queue.roots.write(0, { fen: options.fen ?? START_FEN, moves: [], twoFoldDraws: false });
    const paths = options.fen === null ? createBenchPaths(BENCH_POSITIONS) : [new Uint16Array(0)];
    for (const batch of options.batchSizes) {
      pool.configure({ minibatch: batch });
      const inFlight = Math.min(queue.slotCount, countBusyLeaves(queue));
      const { length } = options;
      const { seconds: wanted } = length;
      const warmUp =
        wanted === undefined ? { batches: WARM_UP_BATCHES * pool.threads } : { seconds: wanted * WARM_UP_SHARE };
      await feed(queue, paths, inFlight, batch, warmUp);
      const { evaluations, seconds, batchMs } = await feed(queue, paths, inFlight, batch, length);
      // The pool's warnings have named the reason.
      if (queue.liveEvaluators === 0) throw new Error('No position can be evaluated: there is nothing to measure');
      const { threads, network } = pool;
      const evaluationsPerSecond = evaluations / seconds;
      const row = { batch, threads, backend: network.backend, evaluations, seconds, evaluationsPerSecond, batchMs };
      rows.push(row);
      options.onRow?.(row);
    }
  } finally {
    await pool.dispose();
  }
  return rows;
}

/** Keeps `inFlight` leaves in evaluation for so long. All slots are free again when it returns. */
async function feed(
  queue: LeafQueue,
  paths: readonly Uint16Array[],
  inFlight: number,
  batch: number,
  { seconds = Infinity, batches = Infinity }: BackendBenchOptions['length'],
): Promise<{ evaluations: number; seconds: number; batchMs: number[] }> {
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  const most = batches * batch;
  const batchMs: number[] = [];
  let lastBatchAt = startedAt;
  // Slots in order of submission; answers are taken in this order, as in a search.
  const pending: number[] = [];
  let next = 0;
  let evaluations = 0;
  let isFeeding = true;
  while (isFeeding || pending.length > 0) {
    const event = Atomics.load(queue.event, 0);
    let taken = 0;
    while (taken < pending.length && queue.isDone(pending[taken])) {
      const slot = pending[taken++];
      if (queue.columns.kind[slot] === EVALUATED) evaluations++;
      queue.release(slot);
    }
    pending.splice(0, taken);
    const now = performance.now();
    // Batches that ended together share the time since the last one.
    const ended = Math.floor(evaluations / batch) - batchMs.length;
    for (let i = 0; i < ended; i++) batchMs.push((now - lastBatchAt) / ended);
    if (ended > 0) lastBatchAt = now;
    isFeeding = now < deadline && next < most;
    while (isFeeding && pending.length < inFlight && next < most) {
      const path = paths[next++ % paths.length];
      pending.push(queue.send(0, path, path.length));
    }
    queue.flush();
    if (pending.length > 0 && !queue.isDone(pending[0])) queue.waitForEvent(event, 50);
    // Warnings of the pool arrive as messages.
    await nextTurn();
  }
  return { evaluations, seconds: (performance.now() - startedAt) / 1000, batchMs };
}

/** Paths to different positions. Neighbours share most of their paths, like leaves of a search. */
function createBenchPaths(count: number): Uint16Array[] {
  const prng = createPrng(1);
  const seen = new Set<string>();
  const paths: Uint16Array[] = [];
  const moves = new Uint16Array(MAX_MOVES);
  while (paths.length < count) {
    const position = new Position();
    const path: number[] = [];
    for (let ply = 0; ply < 60 && paths.length < count; ply++) {
      const moveCount = position.generateLegalMoves(moves);
      if (moveCount === 0 || position.hasInsufficientMaterial()) break;
      for (let i = 0; i < moveCount && ply > 8 && paths.length < count; i++) {
        position.makeMove(moves[i] as Move);
        const key = `${position.keyLow},${position.keyHigh}`;
        if (!seen.has(key) && position.countLegalMoves() > 0) paths.push(Uint16Array.from([...path, moves[i]]));
        seen.add(key);
        position.unmakeMove();
      }
      const move = moves[prng.nextBelow(moveCount)];
      path.push(move);
      position.makeMove(move as Move);
    }
  }
  return paths;
}
