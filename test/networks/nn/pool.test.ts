import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getMemoryBytes } from '#platform/machine.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import {
  CHECKMATE,
  DRAW,
  EVALUATED,
  FLAG_CACHE_HIT,
  LeafQueue,
  TWO_FOLD,
  wakeProducer,
} from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool, type PoolOptions } from '#sardonyx/networks/nn/index.js';
import { computeTreeBytes, defaultSearchParams } from '#sardonyx/search/index.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer, type TestLeaf } from '../../support/leaf-driver.js';

async function withPool<T>(
  options: PoolOptions,
  use: (pool: EvaluatorPool, queue: LeafQueue) => Promise<T>,
): Promise<T> {
  const pool = await EvaluatorPool.create(options);
  try {
    return await use(pool, new LeafQueue(pool.handle));
  } finally {
    await pool.dispose();
  }
}

function listLegalMoves(fen: string): number[] {
  const moves = new Uint16Array(256);
  return [...moves.subarray(0, unwrap(parseFen(fen)).generateLegalMoves(moves))];
}

function assertWellFormed(answer: LeafAnswer): void {
  assert.equal(answer.kind, EVALUATED);
  assert.ok(answer.valueWl >= -1 && answer.valueWl <= 1 && answer.valueD >= 0 && answer.valueD <= 1);
  assert.ok(
    answer.codes.every((code, i) => i === 0 || code <= answer.codes[i - 1]),
    'sorted, descending',
  );
  const sum = answer.priors.reduce((total, prior) => total + prior, 0);
  assert.ok(Math.abs(sum - 1) < 1e-3, `priors sum to ${sum}`);
}

test('a position is answered with all its legal moves, sorted by prior, which sum to 1', async () => {
  await withPool({ backend: 'hash', threads: 1 }, async (_, queue) => {
    const [start, promotion] = await evaluateLeaves(queue, [{}, { fen: '8/P7/8/8/8/8/8/k1K5 w - - 0 1' }]);
    assertWellFormed(start);
    assert.deepEqual([...start.moves].sort(), listLegalMoves(START_FEN).sort());
    assertWellFormed(promotion);
    assert.equal(promotion.moves.length, listLegalMoves('8/P7/8/8/8/8/8/k1K5 w - - 0 1').length);
  });
});

test('every thread, batch size and order of leaves gives the same answers', async () => {
  const leaves = createRandomLeaves(11, 1000);
  const evaluate = (threads: number, minibatch: number, order: readonly TestLeaf[]): Promise<LeafAnswer[]> =>
    withPool({ backend: 'hash', threads, minibatch }, (_, queue) => evaluateLeaves(queue, order));
  const alone = await evaluate(1, 1, leaves);
  assert.deepEqual(await evaluate(1, 64, leaves), alone);
  assert.deepEqual(await evaluate(3, 7, leaves), alone);
  assert.deepEqual((await evaluate(2, 64, leaves.toReversed())).toReversed(), alone);
  for (const answer of alone) if (answer.kind === EVALUATED) assertWellFormed(answer);
});

test('the ends of games are told apart', async () => {
  const back = 'g1f3 g8f6 f3g1 f6g8';
  const nearFifty = '4k3/8/8/8/8/8/8/4K2R w - - 98 90';
  const cases: [string, TestLeaf, number, number?][] = [
    ['fool’s mate', { path: 'f2f3 e7e5 g2g4 d8h4' }, CHECKMATE],
    ['mate at the root', { gameMoves: 'f2f3 e7e5 g2g4 d8h4' }, CHECKMATE],
    ['stalemate', { fen: '7k/5Q2/8/8/8/8/8/K7 b - - 0 1' }, DRAW],
    ['stalemate on the path', { fen: '7k/8/8/8/8/8/5Q2/K7 w - - 0 1', path: 'f2f7' }, DRAW],
    ['bare kings', { fen: '8/8/8/3k4/3P4/8/8/K7 b - - 0 1', path: 'd5d4' }, DRAW],
    ['bare kings at the root', { fen: '8/8/8/3k4/8/8/8/K7 b - - 0 1' }, EVALUATED],
    ['one ply before fifty moves', { fen: nearFifty, path: 'h1h2' }, EVALUATED],
    ['fifty moves', { fen: nearFifty, path: 'h1h2 e8d8' }, DRAW],
    ['fifty moves at the root', { fen: nearFifty, gameMoves: 'h1h2 e8d8' }, EVALUATED],
    ['mate comes before fifty moves', { fen: '7k/8/6K1/8/8/8/8/R7 w - - 99 90', path: 'a1a8' }, CHECKMATE],
    ['twice inside the path', { path: back }, TWO_FOLD, 4],
    ['twice inside the path, when that is no draw', { path: back, twoFoldDraws: false }, EVALUATED],
    ['twice, but first before the root', { gameMoves: 'g1f3 g8f6', path: 'f3g1 f6g8' }, EVALUATED],
    ['twice, cycle of 4 after other moves', { path: `e2e4 e7e5 ${back}` }, TWO_FOLD, 4],
    ['threefold across the root', { gameMoves: `${back} g1f3 g8f6`, path: 'f3g1 f6g8' }, DRAW],
    ['threefold at the root', { gameMoves: `${back} ${back}` }, EVALUATED],
  ];
  await withPool({ backend: 'hash', threads: 2 }, async (_, queue) => {
    const answers = await evaluateLeaves(
      queue,
      cases.map(([, leaf]) => leaf),
    );
    for (const [i, [name, , kind, movesLeft = 0]] of cases.entries()) {
      const answer = answers[i];
      assert.equal(answer.kind, kind, name);
      if (kind === EVALUATED) continue;
      assert.equal(answer.moves.length, 0, name);
      assert.deepEqual([answer.valueWl, answer.valueD], kind === CHECKMATE ? [-1, 0] : [0, 1], name);
      assert.equal(answer.movesLeft, movesLeft, name);
    }
  });
});

test('a root row that changes is seen, and leaves of many roots are kept apart', async () => {
  await withPool({ backend: 'hash', threads: 2, minibatch: 3 }, async (_, queue) => {
    const leaves = createRandomLeaves(5, 200).map(({ path = '' }) => {
      const moves = path.split(' ');
      const half = moves.length >> 1;
      return { gameMoves: moves.slice(0, half).join(' '), path: moves.slice(half).join(' ') };
    });
    const first = await evaluateLeaves(queue, leaves);
    // Each row now holds another game than before.
    const second = await evaluateLeaves(queue, leaves.toReversed());
    assert.deepEqual(second.toReversed(), first);
  });
});

test('cached answers equal fresh ones and are flagged', async () => {
  const leaves = createRandomLeaves(23, 300);
  const fresh = await withPool({ backend: 'hash', threads: 1 }, (_, queue) => evaluateLeaves(queue, leaves));
  const options: PoolOptions = { backend: 'hash', backendOptions: 'cached=true', threads: 2, cachePositions: 10_000 };
  await withPool(options, async (pool, queue) => {
    const withoutFlags = (answers: LeafAnswer[]) => answers.map((answer) => ({ ...answer, flags: 0 }));
    assert.deepEqual(withoutFlags(await evaluateLeaves(queue, leaves)), fresh);
    const { evaluations } = queue.counters;
    const again = await evaluateLeaves(queue, leaves);
    assert.deepEqual(withoutFlags(again), fresh);
    const hits = again.filter((answer) => (answer.flags & FLAG_CACHE_HIT) !== 0).length;
    assert.equal(hits, again.filter((answer) => answer.kind === EVALUATED).length);
    assert.equal(queue.counters.evaluations, evaluations);
    pool.clearCache();
    const [cleared] = await evaluateLeaves(queue, leaves.slice(0, 1));
    assert.equal(cleared.flags, 0);
  });
});

test('the cache takes what Hash says, else at most a quarter of the memory, and leaves the tree the rest', async () => {
  const measure = async (options: PoolOptions) => {
    const warnings: string[] = [];
    const reserved = await withPool(
      { backend: 'hash', threads: 1, ...options, onWarning: (text) => warnings.push(text) },
      async (pool) => pool.handle.reservedBytes,
    );
    return { reserved, warnings };
  };
  const memory = getMemoryBytes();
  const none = await measure({});
  assert.ok(none.reserved > 1e8);
  const usual = await measure({ cachePositions: 2_000_000 });
  assert.ok(
    usual.reserved - none.reserved <= Math.max(9e6, (memory - none.reserved) / 4) && usual.reserved > none.reserved,
  );
  assert.deepEqual(usual.warnings, []);
  const huge = await measure({ cachePositions: 999_999_999 });
  assert.ok(huge.reserved - none.reserved <= Math.max(9e6, (memory - none.reserved) / 4));
  assert.ok(huge.warnings.length === 1 || memory > 5.4e11);
  const own = await measure({ cacheMb: 20, cachePositions: 2_000_000 });
  assert.ok(Math.abs(own.reserved - none.reserved - 20 * 2 ** 20) < 2000);
  const params = { ...defaultSearchParams, ramLimitMb: 0 };
  assert.ok(computeTreeBytes(params, usual.reserved) + usual.reserved <= memory);
  assert.equal(computeTreeBytes(params, memory - 1e8), Math.min(16e9, memory / 2, 1e8));
  assert.equal(computeTreeBytes(params, 2 * memory), 16e6);
  assert.equal(computeTreeBytes({ ...params, ramLimitMb: 300 }, memory), 300e6);
});

test('a cached evaluation is of other moves, unless the key holds as many earlier positions as differ', async () => {
  const options: PoolOptions = { backend: 'hash', backendOptions: 'cached=true', threads: 1, cachePositions: 10_000 };
  // One position reached by two orders of moves, and from a FEN; two plies back they differ.
  const first = { path: 'd2d4 d7d5 g1f3 g8f6 c2c4' };
  const other = { path: 'g1f3 d7d5 d2d4 g8f6 c2c4' };
  const game = { gameMoves: 'd2d4 d7d5 g1f3 g8f6', path: 'c2c4' };
  const fen = { fen: 'rnbqkb1r/ppp1pppp/5n2/3p4/3P4/5N2/PPP1PPPP/RNBQKB1R w KQkq - 2 3', path: 'c2c4' };
  await withPool(options, async (pool, queue) => {
    for (const [keyHistory, hits] of [
      [0, [1, 1, 1, 1]],
      [1, [1, 1, 1, 1]],
      [2, [1, 1, 1, 0]],
      [3, [1, 0, 1, 0]],
      [7, [1, 0, 1, 0]],
    ] as const) {
      pool.clearCache();
      await evaluateLeaves(queue, [{ ...first, keyHistory }]);
      const found = [];
      for (const leaf of [first, other, game, fen]) {
        const [{ flags }] = await evaluateLeaves(queue, [{ ...leaf, keyHistory }]);
        found.push(flags & FLAG_CACHE_HIT);
      }
      assert.deepEqual(found, hits, `keyHistory ${keyHistory}`);
    }
  });
});

test('the policy temperature can be changed between searches, and the cache does not remember the old one', async () => {
  const options: PoolOptions = { backend: 'hash', backendOptions: 'cached=true', threads: 1, cachePositions: 1000 };
  await withPool(options, async (pool, queue) => {
    const [usual] = await evaluateLeaves(queue, [{}]);
    pool.configure({ policyTemperature: 100 });
    const [flat] = await evaluateLeaves(queue, [{}]);
    assert.ok(flat.priors[0] < usual.priors[0]);
    assert.ok(Math.abs(flat.priors[0] - 1 / 20) < 0.005);
    assertWellFormed(flat);
  });
});

test('counters count evaluations, batches and finished games', async () => {
  await withPool({ backend: 'hash', threads: 1, minibatch: 4 }, async (_, queue) => {
    const before = { ...readCounters(queue) };
    await evaluateLeaves(queue, [{}, { path: 'e2e4' }, { path: 'f2f3 e7e5 g2g4 d8h4' }]);
    const after = readCounters(queue);
    assert.equal(after.evaluations - before.evaluations, 2);
    assert.equal(after.terminals - before.terminals, 1);
    assert.ok(after.batches - before.batches >= 1);
  });
});

function readCounters(queue: LeafQueue) {
  const { evaluations, batches, terminals } = queue.counters;
  return { evaluations, batches, terminals };
}

test('two threads answer a thousand runs of leaves and end at once, again and again', async () => {
  for (let round = 0; round < 5; round++) {
    const pool = await EvaluatorPool.create({ backend: 'hash', threads: 2, minibatch: 4 });
    const queue = new LeafQueue(pool.handle);
    queue.roots.write(0, { fen: START_FEN, moves: [], twoFoldDraws: true });
    const moves = listLegalMoves(START_FEN);
    for (let run = 0; run < 1000; run++) {
      const slots = Array.from({ length: 1 + (run % 16) }, (_, i) =>
        queue.send(0, [moves[(run + i) % moves.length]], 1),
      );
      queue.flush();
      for (const slot of slots) {
        for (;;) {
          const event = Atomics.load(queue.event, 0);
          if (queue.isDone(slot)) break;
          assert.notEqual(queue.waitForEvent(event, 5000), event, `run ${run} was not answered`);
        }
        assert.equal(queue.columns.kind[slot], EVALUATED);
        queue.release(slot);
      }
    }
    // Threads that sleep and threads in the middle of a batch must both end.
    if (round % 2 === 1) {
      for (let i = 0; i < 2000; i++) queue.send(0, [], 0);
      queue.flush();
    }
    await pool.dispose();
  }
});

test('anyone can wake a producer that waits', async () => {
  await withPool({ backend: 'hash', threads: 1 }, async (pool, queue) => {
    const event = Atomics.load(queue.event, 0);
    wakeProducer(pool.handle);
    assert.equal(queue.waitForEvent(event, 1000), event + 1);
  });
});

test('threads that wait for leaves use no processor time', async () => {
  await withPool({ backend: 'hash', threads: 4 }, async () => {
    // On a busy machine the threads may still be starting in the first of these.
    let leastUs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 10 && leastUs >= 100_000; i++) {
      const before = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const { user, system } = process.cpuUsage(before);
      leastUs = Math.min(leastUs, user + system);
    }
    assert.ok(leastUs < 100_000, `${leastUs} µs in 300 ms`);
  });
});
