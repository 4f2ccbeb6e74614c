import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createPrng } from '#sardonyx/base/util/index.js';
import {
  clearCache,
  computeCachePositions,
  createCacheBuffer,
  EvaluationCache,
  MOVES_PER_ENTRY,
} from '#sardonyx/networks/nn/cache/evaluation-cache.js';
import {
  checkEntry,
  createKey,
  getMoveCount,
  type HammerReport,
  type HammerStart,
  storeEntry,
} from './support/cache-hammer.js';

function createCache(positions: number): { cache: EvaluationCache; buffer: SharedArrayBuffer } {
  const buffer = createCacheBuffer(positions);
  assert.ok(buffer);
  return { cache: new EvaluationCache(buffer), buffer };
}

function countPositions(buffer: SharedArrayBuffer): number {
  return computeCachePositions(buffer.byteLength / 2 ** 20);
}

test('what was stored is found again, unchanged, by its key, repetitions and move count only', () => {
  const { cache } = createCache(10_000);
  const prng = createPrng(1);
  const keys = Array.from({ length: 500 }, () => [prng.next32() | 0, prng.next32() | 0] as const);
  for (const [low, high] of keys) storeEntry(cache, low, high, 0);
  for (const [low, high] of keys) {
    assert.equal(checkEntry(cache, low, high, 0), 'right');
    assert.equal(checkEntry(cache, low, high, 1), 'missing');
    assert.equal(checkEntry(cache, high, low, 0), 'missing');
    assert.equal(
      cache.find(createKey(low, high, (getMoveCount(low) % MOVES_PER_ENTRY) + 1)),
      false,
      'another move count is another position',
    );
  }
});

test('an evaluation that was under way when the cache was emptied is not kept, of whichever generation it is stored', () => {
  const { cache, buffer } = createCache(100);
  const store = (leaf: number): boolean => {
    cache.store(createKey(1, 2, 2), { wl: 0, d: 1, m: 0 }, Uint16Array.of(1, 2), 0, leaf);
    return cache.find(createKey(1, 2, 2));
  };
  for (const next of [7, -2, 2 ** 31 - 1]) {
    clearCache(buffer, next);
    assert.deepEqual([next - 3, next - 1, next, (next + 5) | 0].map(store), [false, false, true, true]);
    // Numbers wrap: one from long ago is one from far ahead.
    clearCache(buffer, next);
    assert.ok(store((next - 100_000) | 0));
  }
});

test('storing a position again replaces it', () => {
  const { cache } = createCache(100);
  const priors = Uint16Array.of(9, 8, 7);
  cache.store(createKey(1, 2, 3), { wl: 0.5, d: 0.25, m: 10 }, priors, 0);
  cache.store(createKey(1, 2, 2), { wl: -0.5, d: 0.125, m: 20 }, priors, 1);
  assert.equal(cache.find(createKey(1, 2, 3)), false);
  assert.equal(cache.find(createKey(1, 2, 2)), true);
  assert.deepEqual(Object.values(cache.value), [-0.5, 0.125, 20]);
  assert.deepEqual([...cache.priors.subarray(0, 2)], [8, 7]);
});

test('a leaf sees the entries of leaves before its horizon only, also where their numbers wrap', () => {
  const { cache } = createCache(100);
  const priors = Uint16Array.of(1, 2);
  for (const [key, number] of [7, 0x7fffffff, -5, -1].entries()) {
    cache.store(createKey(1, key, 2), { wl: 0.5, d: 0.25, m: 10 }, priors, 0, number);
    assert.equal(cache.find(createKey(1, key, 2), number), false);
    assert.equal(cache.find(createKey(1, key, 2), (number - 3) | 0), false);
    assert.equal(cache.find(createKey(1, key, 2), (number + 1) | 0), true);
    assert.equal(cache.find(createKey(1, key, 2)), true);
  }
});

test('of two evaluations of one position that of the older leaf stays, whichever is stored first', () => {
  for (const numbers of [
    [5, 9],
    [9, 5],
    [-1, -4],
    [0x7fffffff, -0x80000000],
  ]) {
    const { cache } = createCache(100);
    const oldest = ((numbers[0] - numbers[1]) | 0) < 0 ? numbers[0] : numbers[1];
    for (const number of numbers)
      cache.store(createKey(1, 2, 2), { wl: 0.5, d: 0.25, m: number }, Uint16Array.of(1, 2), 0, number);
    assert.equal(cache.find(createKey(1, 2, 2)), true);
    assert.equal(cache.value.m, Math.fround(oldest));
  }
});

test('clearing forgets everything at once, for all threads', () => {
  const { cache, buffer } = createCache(1000);
  const other = new EvaluationCache(buffer);
  for (let i = 1; i <= 100; i++) storeEntry(cache, i * 7919, i * 104729, 0);
  assert.equal(checkEntry(other, 7919, 104729, 0), 'right');
  clearCache(buffer);
  for (let i = 1; i <= 100; i++) assert.equal(checkEntry(other, i * 7919, i * 104729, 0), 'missing');
  storeEntry(cache, 7919, 104729, 0);
  assert.equal(checkEntry(other, 7919, 104729, 0), 'right');
});

test('entries from before a clearing give way first: a set holds as many new positions as an empty one', () => {
  const { cache, buffer } = createCache(4);
  const priors = Uint16Array.of(1, 2);
  const store = (key: number): void => cache.store(createKey(1, key, 2), { wl: 0.5, d: 0.25, m: key }, priors, 0, key);
  for (let key = 1; key <= 4; key++) store(key);
  clearCache(buffer);
  for (let key = 11; key <= 14; key++) store(key);
  for (let key = 11; key <= 14; key++) assert.equal(cache.find(createKey(1, key, 2)), true, `position ${key}`);
});

test('an older leaf takes a place of its own, so a horizon between the two finds it', () => {
  const { cache } = createCache(4);
  for (const number of [9, 5])
    cache.store(createKey(1, 2, 2), { wl: 0.5, d: 0.25, m: number }, Uint16Array.of(1, 2), 0, number);
  for (const horizon of [6, 10]) {
    assert.equal(cache.find(createKey(1, 2, 2), horizon), true);
    assert.equal(cache.value.m, 5);
  }
  assert.equal(cache.find(createKey(1, 2, 2), 5), false);
});

test('a full cache goes on taking new entries, and keeps a share of the old ones', () => {
  const { cache } = createCache(1024);
  const prng = createPrng(2);
  const keys = Array.from({ length: 4096 }, () => [prng.next32() | 0, prng.next32() | 0] as const);
  for (const [low, high] of keys) {
    storeEntry(cache, low, high, 0);
    assert.equal(checkEntry(cache, low, high, 0), 'right', 'the newest entry is there');
  }
  const kept = keys.filter(([low, high]) => checkEntry(cache, low, high, 0) === 'right').length;
  assert.ok(kept > 900 && kept <= 1024, `${kept} of 4096 entries kept in 1024 places`);
});

test('positions of every number of moves are found again whole, up to 218', () => {
  const { cache } = createCache(10_000);
  const priors = Uint16Array.from({ length: 256 }, (_, i) => i + 1);
  for (const count of [0, 1, 53, 54, 55, 56, 108, 109, 162, 163, 218]) {
    cache.store(createKey(2, count, count), { wl: 0.5, d: 0.25, m: 10 }, priors, 3, count);
    assert.equal(cache.find(createKey(2, count, count)), true, `${count} moves`);
    assert.deepEqual(Object.values(cache.value), [0.5, 0.25, 10]);
    assert.deepEqual(cache.priors.slice(0, count), priors.slice(3, 3 + count));
    assert.equal(cache.find(createKey(2, count, count + 1)), false);
    assert.equal(cache.find(createKey(2, count, count), count), false, 'its own leaf does not see it');
  }
});

test('a position of many moves whose entries come from two leaves is not found', () => {
  const { cache } = createCache(4);
  const priors = new Uint16Array(256).fill(5);
  cache.store(createKey(1, 2, 60), { wl: 0.5, d: 0.25, m: 10 }, priors, 0, 3);
  for (let key = 0; key < 64; key++) {
    cache.store(createKey(key, key, 2), { wl: 0, d: 0, m: 0 }, priors, 0, 4);
    if (!cache.find(createKey(1, 2, 60))) break;
  }
  assert.equal(cache.find(createKey(1, 2, 60)), false);
});

test('the size is counted in positions or in MB, and no size means no cache', () => {
  assert.equal(createCacheBuffer(0), null);
  assert.equal(countPositions(createCache(2_000_000).buffer), 2_000_000);
  const positions = computeCachePositions(64);
  const { buffer } = createCache(positions);
  assert.equal(countPositions(buffer), positions);
  assert.ok(buffer.byteLength <= 64 * 2 ** 20 + 64 && buffer.byteLength > 63.9 * 2 ** 20);
});

test('a cache larger than the memory is granted in part, and nothing is touched before it is used', () => {
  const before = process.memoryUsage().rss;
  const positions = countPositions(createCache(999_999_999).buffer);
  assert.ok(positions >= 1_000_000, `${positions} positions`);
  assert.ok(process.memoryUsage().rss - before < 32 * 2 ** 20);
});

test('threads that write and read the same few entries never see a mixture of two', async () => {
  // Eight places for 64 keys: every store hits an entry that another thread is reading or writing.
  const buffer = createCacheBuffer(8);
  assert.ok(buffer);
  const hammer = (seed: number): Promise<HammerReport> =>
    new Promise((resolve, reject) => {
      const start: HammerStart = { buffer, seed, rounds: 400_000, keys: 64 };
      const worker = new Worker(new URL('./support/cache-hammer.js', import.meta.url), { workerData: start });
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  const reports = await Promise.all([hammer(1), hammer(2), hammer(3)]);
  assert.deepEqual(
    reports.map((report) => report.wrong),
    [0, 0, 0],
  );
  for (const report of reports) assert.ok(report.right > 1000, `${report.right} entries found`);
});

test('how full the cache is counts what was stored since it was emptied', () => {
  const { cache, buffer } = createCache(4096);
  const prng = createPrng(5);
  assert.equal(cache.computeFill(), 0);
  for (let i = 0; i < 1024; i++) storeEntry(cache, prng.next32() | 0, prng.next32() | 0, 0);
  assert.ok(Math.abs(cache.computeFill() - 250) < 60, `${cache.computeFill()}`);
  for (let i = 0; i < 40_000; i++) storeEntry(cache, prng.next32() | 0, prng.next32() | 0, 0);
  assert.ok(cache.computeFill() > 990);
  clearCache(buffer);
  assert.equal(cache.computeFill(), 0);
  storeEntry(cache, 1, 2, 0);
  assert.ok(cache.computeFill() <= 1);
});
