/**
 * Entries whose content follows from their key and a stamp, so that a reader can tell a whole entry from a mixture; and
 * a thread that writes and reads them as fast as it can.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createPrng } from '#sardonyx/base/util/index.js';
import { type CacheKey, EvaluationCache, MOVES_PER_ENTRY } from '#sardonyx/networks/nn/cache/evaluation-cache.js';

export interface HammerStart {
  readonly buffer: SharedArrayBuffer;
  readonly seed: number;
  readonly rounds: number;
  readonly keys: number;
}

export interface HammerReport {
  readonly right: number;
  readonly missing: number;
  readonly wrong: number;
}

const priors = new Uint16Array(256);

export function getMoveCount(low: number): number {
  return 1 + ((low >>> 8) % MOVES_PER_ENTRY);
}

export function createKey(low: number, high: number, moveCount: number, repetitions = 0): CacheKey {
  return { low, high, repetitions, moveCount };
}

export function storeEntry(cache: EvaluationCache, low: number, high: number, stamp: number): void {
  const moveCount = getMoveCount(low);
  for (let i = 0; i < moveCount; i++) priors[i] = (low + stamp * 31 + i) & 0xffff;
  cache.store(createKey(low, high, moveCount), { wl: stamp, d: stamp + 1, m: stamp + 2 }, priors, 0);
}

export function checkEntry(
  cache: EvaluationCache,
  low: number,
  high: number,
  repetitions: number,
): 'right' | 'missing' | 'wrong' {
  const moveCount = getMoveCount(low);
  if (!cache.find(createKey(low, high, moveCount, repetitions))) return 'missing';
  const { wl: stamp, d: next, m: last } = cache.value;
  if (next !== stamp + 1 || last !== stamp + 2) return 'wrong';
  for (let i = 0; i < moveCount; i++) {
    if (cache.priors[i] !== ((low + stamp * 31 + i) & 0xffff)) return 'wrong';
  }
  return 'right';
}

function hammer({ buffer, seed, rounds, keys }: HammerStart): HammerReport {
  const cache = new EvaluationCache(buffer);
  const prng = createPrng(seed);
  const report = { right: 0, missing: 0, wrong: 0 };
  for (let round = 0; round < rounds; round++) {
    const key = 1 + prng.nextBelow(keys);
    const low = Math.imul(key, 0x2545f491);
    if (round % 2 === 0) storeEntry(cache, low, key, prng.nextBelow(1000));
    else report[checkEntry(cache, low, key, 0)]++;
  }
  return report;
}

if (parentPort !== null && workerData !== null) parentPort.postMessage(hammer(workerData as HammerStart));
