import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { success } from '#sardonyx/base/util/index.js';
import { EVALUATED, FAILED, LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool, type PoolOptions, runBackendBench } from '#sardonyx/networks/nn/index.js';
import { FailureStreak, FORGIVING_EVALUATIONS } from '#sardonyx/networks/nn/pool/evaluator-supply.js';
import { createFaultyThread } from '../../support/evaluator-faults.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer } from '../../support/leaf-driver.js';
import { readModelSource } from '../../support/model-source.js';
import { OnnxWriter } from '../../support/onnx-writer.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const tinyNetwork = readModelSource(`${repositoryRoot}/models/tiny-test.onnx`);
const leaves = createRandomLeaves(31, 200);

async function evaluateWith(
  options: PoolOptions,
): Promise<{ answers: LeafAnswer[]; warnings: string[]; backend: string }> {
  const warnings: string[] = [];
  const pool = await EvaluatorPool.create({ ...options, onWarning: (text) => warnings.push(text) });
  try {
    const answers = await evaluateLeaves(new LeafQueue(pool.handle), leaves);
    // Messages were posted before the answers; the event loop has yet to hand them over.
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    return { answers, warnings, backend: pool.network.backend };
  } finally {
    await pool.dispose();
  }
}

test('an evaluator that fails in the middle of a search is replaced, every leaf is answered, one warning is given', async () => {
  const { answers: expected } = await evaluateWith({ backend: 'hash', threads: 1 });
  const { answers, warnings } = await evaluateWith({
    backend: 'hash',
    threadScript: createFaultyThread({ failAfter: 3 }),
    threads: 2,
    minibatch: 5,
  });
  assert.deepEqual(answers, expected);
  assert.deepEqual(warnings, ['Backend hash failed, going on with hash: made to fail after 3 runs']);
});

test('a thread that never has its network ready is one sentence', async () => {
  const threadScript = new URL('data:text/javascript,setInterval(() => undefined, 1000)');
  await assert.rejects(
    EvaluatorPool.create({ backend: 'hash', threads: 1, threadScript, longestStartMs: 1 }),
    /^Error: Cannot evaluate with backend hash: it has not evaluated a position within 0\.001 s/,
  );
});

/** Nodes that make one position of 112 planes into ever larger tensors, of a few bytes each. */
const GROWTHS: Readonly<Record<string, (onnx: OnnxWriter, row: string, column: string) => string>> = {
  'an outer product': (onnx, row, column) => onnx.node('MatMul', [column, row]),
  'a sum of a row and a column': (onnx, row, column) => onnx.node('Add', [column, row]),
  'lists that double': (onnx, row) => {
    let list = row;
    for (let i = 0; i < 16; i++) list = onnx.node('Concat', [list, list], { axis: 0 });
    return list;
  },
};

for (const [what, grow] of Object.entries(GROWTHS)) {
  test(`a small network with gigabytes of activations (${what}) is one sentence`, async () => {
    const onnx = new OnnxWriter();
    const planes = onnx.input('/input/planes', ['batch', 112, 8, 8]);
    const row = onnx.node('Reshape', [planes, onnx.integers([2], [1, 7168])]);
    const column = onnx.node('Transpose', [row], { perm: [1, 0] });
    const large = onnx.node('Add', [grow(onnx, row, column), grow(onnx, row, column)]);
    const larger = onnx.node('Relu', [onnx.node('Concat', [large, large, large], { axis: 0 })]);
    const policy = onnx.node('ReduceMax', [larger], { axes: [0] });
    onnx.node(
      'Slice',
      [policy, onnx.integers([1], [0]), onnx.integers([1], [1858]), onnx.integers([1], [1])],
      {},
      '/output/policy',
    );
    onnx.node(
      'Slice',
      [policy, onnx.integers([1], [0]), onnx.integers([1], [3]), onnx.integers([1], [1])],
      {},
      '/output/wdl',
    );
    onnx.output('/output/policy', ['batch', 1858]);
    onnx.output('/output/wdl', ['batch', 3]);
    const model = { bytes: onnx.finish({}), name: 'large.onnx', isForeign: true };
    await assert.rejects(
      EvaluatorPool.create({ backend: 'cpu', model, threads: 1 }),
      /The network large\.onnx (needs \d{4,} MB for one position, more|makes a larger tensor) than any known network/,
    );
  });
}

test('a network whose session fails is loaded again on the CPU', async () => {
  const { answers: expected } = await evaluateWith({ backend: 'cpu', model: tinyNetwork, threads: 1, minibatch: 4 });
  const { answers, warnings, backend } = await evaluateWith({
    backend: 'cpu',
    threadScript: createFaultyThread({ failAfter: 2 }),
    model: tinyNetwork,
    threads: 1,
    minibatch: 4,
  });
  assert.equal(backend, 'cpu');
  assert.deepEqual(
    answers.map((answer) => answer.moves[0]),
    expected.map((answer) => answer.moves[0]),
  );
  assert.equal(warnings.length, 1);
});

test('a provider that fails while loading gives way to the CPU with one warning and the plan of the CPU', async () => {
  const pool = await EvaluatorPool.create({
    backend: 'cuda',
    threadScript: createFaultyThread({ backend: 'cuda', loadFails: true }),
    model: async ({ provider }) =>
      success(provider === 'cpu' ? tinyNetwork : readModelSource(`${repositoryRoot}/models/default.onnx`)),
    onWarning: (text) => assert.equal(text, 'Backend cuda failed, going on with cpu: made to fail at loading'),
  });
  const { backend, fileName } = pool.network;
  assert.deepEqual([backend, pool.minibatch, fileName], ['cpu', 8, 'tiny-test.onnx'], 'with the network meant for it');
  await pool.dispose();
});

test('a pool whose threads have all lost the device says so, and the next one is as if there had been none', async () => {
  const options: PoolOptions = {
    backend: 'cuda',
    threadScript: createFaultyThread({ backend: 'cuda', playsDevice: true, failAfter: 2 }),
    model: async ({ provider }) =>
      success(provider === 'cpu' ? tinyNetwork : readModelSource(`${repositoryRoot}/models/default.onnx`)),
    threads: 2,
    minibatch: 16,
  };
  const pool = await EvaluatorPool.create(options);
  assert.deepEqual([pool.threads, pool.minibatch, pool.hasLostDevice], [2, 16, false]);
  const queue = new LeafQueue(pool.handle);
  for (let round = 0; round < 50 && !pool.hasLostDevice; round++) {
    const answers = await evaluateLeaves(queue, leaves);
    assert.ok(answers.every(({ kind }) => kind !== FAILED));
  }
  assert.ok(pool.hasLostDevice);
  await pool.dispose();
  const next = await EvaluatorPool.create({ ...options, threads: 1, avoidsDevice: true, onWarning: assert.fail });
  const { backend, fileName } = next.network;
  assert.deepEqual([backend, next.minibatch, next.threads, fileName], ['cpu', 8, 1, 'tiny-test.onnx']);
  assert.equal(next.hasLostDevice, false);
  await next.dispose();
});

test('a provider that is not installed gives way to the CPU with one warning', async () => {
  // No test machine has CUDA's libraries beside onnxruntime; where one has, the network simply runs there.
  const { answers, warnings, backend } = await evaluateWith({ backend: 'cuda', model: tinyNetwork, minibatch: 8 });
  assert.ok(answers.some((answer) => answer.kind === EVALUATED));
  if (backend === 'cuda') return;
  assert.equal(backend, 'cpu');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /^Backend cuda failed, going on with cpu: /);
});

test('when nothing can evaluate, leaves are answered as failed and the search is told why', async () => {
  const { answers, warnings } = await evaluateWith({
    backend: 'hash',
    threadScript: createFaultyThread({ failAfter: 1, fallbackFails: true }),
    threads: 1,
    minibatch: 10,
  });
  const failed = answers.filter((answer) => answer.kind === FAILED);
  assert.ok(failed.length > 100 && failed.length < 200, `${failed.length} of 200 failed`);
  for (const answer of failed) assert.deepEqual([answer.valueWl, answer.valueD, answer.moves.length], [0, 1, 0]);
  assert.deepEqual(warnings, ['No position can be evaluated any more: made to fail when falling back']);
});

test('a thread that gave up leaves the work to the others, and the user is told how many are left', async () => {
  const warnings: string[] = [];
  const pool = await EvaluatorPool.create({
    backend: 'hash',
    backendOptions: 'delay=1',
    threadScript: createFaultyThread({ failAfter: 1, fallbackFails: true, thread: 0 }),
    threads: 2,
    minibatch: 5,
    onWarning: (text) => warnings.push(text),
  });
  const queue = new LeafQueue(pool.handle);
  const countFailed = async (): Promise<number> =>
    (await evaluateLeaves(queue, leaves)).filter((answer) => answer.kind === FAILED).length;
  try {
    let failed = 0;
    for (let round = 0; round < 50 && warnings.length === 0; round++) failed += await countFailed();
    assert.deepEqual(warnings, ['An evaluator thread gave up, 1 of 2 left: made to fail when falling back']);
    assert.ok(failed >= 1 && failed <= 5, `${failed} leaves failed, of a batch of 5`);
    assert.equal(queue.liveEvaluators, 1);
    assert.equal(await countFailed(), 0);
  } finally {
    await pool.dispose();
  }
});

test('when all threads have given up one after the other, every leaf is answered as failed', async () => {
  const { answers, warnings } = await evaluateWith({
    backend: 'hash',
    threadScript: createFaultyThread({ failAfter: 1, fallbackFails: true }),
    threads: 3,
    minibatch: 10,
  });
  assert.ok(answers.some((answer) => answer.kind === FAILED));
  assert.ok(warnings.includes('No position can be evaluated any more: made to fail when falling back'));
});

test('a thread that dies is started again and answers what its predecessor had claimed', async () => {
  const { answers: expected } = await evaluateWith({ backend: 'hash', threads: 1 });
  const { answers, warnings } = await evaluateWith({
    backend: 'hash',
    threadScript: createFaultyThread({ crashAfter: 9 }),
    threads: 2,
    minibatch: 10,
  });
  assert.deepEqual(answers, expected);
  assert.match(warnings[0], /^An evaluator thread ended and was started again: made to die/);
});

test('a thread that dies from time to time is started again each time', async () => {
  const many = createRandomLeaves(32, 1000);
  const pool = await EvaluatorPool.create({
    backend: 'hash',
    threadScript: createFaultyThread({ crashAfter: 3 }),
    threads: 1,
    minibatch: many.length,
  });
  try {
    const queue = new LeafQueue(pool.handle);
    for (let round = 0; round < 14; round++) {
      const answers = await evaluateLeaves(queue, many);
      assert.ok(answers.every((answer) => answer.kind !== FAILED));
    }
    assert.ok(queue.counters.evaluations > 4 * FORGIVING_EVALUATIONS);
  } finally {
    await pool.dispose();
  }
});

test('failures are forgiven after much work, and only then', () => {
  const streak = new FailureStreak();
  assert.equal(streak.length, 0);
  assert.deepEqual(
    [10, 20, 20, 1000].map((evaluations) => streak.add(evaluations)),
    [1, 2, 3, 4],
  );
  assert.equal(streak.add(999 + FORGIVING_EVALUATIONS), 5);
  assert.equal(streak.add(999 + 2 * FORGIVING_EVALUATIONS), 1);
  assert.equal(streak.length, 1);
});

test('threads that die every time are given up, and no leaf waits for ever', async () => {
  const { answers } = await evaluateWith({
    backend: 'hash',
    threadScript: createFaultyThread({ crashAfter: 0 }),
    threads: 1,
  });
  assert.ok(answers.every((answer) => answer.kind === FAILED || answer.kind !== EVALUATED));
});

test('a network that cannot be read is refused in one sentence that names it', async () => {
  const refuse = (options: PoolOptions, sentence: RegExp): Promise<void> =>
    assert.rejects(EvaluatorPool.create(options), (error: Error) => {
      assert.match(error.message, sentence);
      assert.ok(!error.message.includes('\n'));
      return true;
    });
  await refuse(
    { backend: 'cpu', model: readModelSource(fileURLToPath(import.meta.url)) },
    /^The network .*\.js is not an ONNX model/,
  );
  await refuse(
    { backend: 'cpu', threadScript: createFaultyThread({ loadFails: true }), model: tinyNetwork },
    /^Cannot evaluate with .*tiny-test\.onnx: made to fail at loading$/,
  );
  await refuse({ backend: 'cpu' }, /Backend cpu needs a network/);
  await refuse({ backend: 'cpu', backendOptions: 'x=1', model: tinyNetwork }, /has no option "x"/);
});

test('a benchmark of evaluators that cannot evaluate is an error, not a row of zeros', async () => {
  const threadScript = createFaultyThread({ failAfter: 1, fallbackFails: true });
  const pool = { backend: 'hash', threadScript, threads: 1 };
  const rows: unknown[] = [];
  await assert.rejects(
    runBackendBench({ pool, batchSizes: [1], length: { batches: 1 }, fen: null, onRow: (row) => rows.push(row) }),
    /^Error: No position can be evaluated/,
  );
  assert.deepEqual(rows, []);
});
