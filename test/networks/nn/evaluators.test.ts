import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move } from '#sardonyx/chess/rules/index.js';
import { EVALUATED, FAILED, LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { type BackendPlan, planBackend } from '#sardonyx/networks/nn/backend/backend-plan.js';
import { evaluatorFactory } from '#sardonyx/networks/nn/evaluators/create-evaluator.js';
import { EvaluatorPool, loadModel, type Model, type PoolOptions } from '#sardonyx/networks/nn/index.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer, type TestLeaf } from '../../support/leaf-driver.js';
import { OnnxWriter } from '../../support/onnx-writer.js';
import { createRandomNetwork, TINY } from '../../support/random-network.js';

async function evaluateWith(options: PoolOptions, leaves: readonly TestLeaf[]): Promise<LeafAnswer[]> {
  const pool = await EvaluatorPool.create({ threads: 1, ...options });
  try {
    return await evaluateLeaves(new LeafQueue(pool.handle), leaves);
  } finally {
    await pool.dispose();
  }
}

test('trivial sees who is a queen ahead, from the view of the player to move, and has no favourite move', async () => {
  const [up, down, even] = await evaluateWith({ backend: 'trivial' }, [
    { fen: '4k3/8/8/8/8/8/8/3QK3 w - - 0 1' },
    { fen: '4k3/8/8/8/8/8/8/3QK3 b - - 0 1' },
    {},
  ]);
  assert.ok(up.valueWl > 0.9 && down.valueWl < -0.9);
  assert.equal(even.valueWl, 0);
  for (const code of even.codes) assert.equal(code, even.codes[0]);
});

test('random answers by its seed, and equally for all moves when told so', async () => {
  const leaves = createRandomLeaves(2, 50);
  const evaluate = (backendOptions: string) => evaluateWith({ backend: 'random', backendOptions }, leaves);
  const first = await evaluate('seed=1');
  assert.deepEqual(await evaluate('seed=1,delay=1'), first);
  assert.notDeepEqual(await evaluate('seed=2'), first);
  for (const answer of await evaluate('uniform=true')) {
    assert.equal(new Set(answer.codes).size, answer.kind === EVALUATED ? 1 : 0);
  }
});

test('random has lc0’s values and priors', async () => {
  // As `lc0 --backend=random --verbose-move-stats` prints them after `position startpos moves e2e4 c7c5 g1f3` and `go nodes 1`.
  const leaf = { path: 'e2e4 c7c5 g1f3' };
  for (const [backendOptions, wl, priors] of [
    ['', 0.4458, { g8f6: 12.05, d8a5: 10.4 }],
    ['seed=7,input_mode=3', 0.7241, { g7g6: 10.11, d8b6: 1.99 }],
  ] as const) {
    const [answer] = await evaluateWith({ backend: 'random', backendOptions }, [leaf]);
    assert.equal(answer.valueWl.toFixed(4), wl.toFixed(4));
    const moves = answer.moves.map((move) => formatUciMove(move as Move, false));
    for (const [move, percent] of Object.entries(priors)) {
      assert.equal((100 * answer.priors[moves.indexOf(move)]).toFixed(2), percent.toFixed(2), move);
    }
  }
});

test('a hash of values and priors is spread as a network’s answers are', async () => {
  const answers = (await evaluateWith({ backend: 'hash' }, createRandomLeaves(3, 500))).filter(
    (answer) => answer.kind === EVALUATED,
  );
  const mean = answers.reduce((sum, answer) => sum + answer.valueWl, 0) / answers.length;
  assert.ok(Math.abs(mean) < 0.05, `mean value ${mean}`);
  const many = answers.filter((answer) => answer.moves.length > 20);
  const best = many.reduce((sum, answer) => sum + answer.priors[0], 0) / many.length;
  assert.ok(best > 0.08 && best < 0.4, `best prior ${best} on average`);
});

test('a network that gives NaN is not believed', async () => {
  const onnx = new OnnxWriter();
  const planes = onnx.input('/input/planes', ['batch', 112, 8, 8]);
  const mean = onnx.node('ReduceMean', [onnx.node('Flatten', [planes], { axis: 1 })], { axes: [1], keepdims: 1 });
  onnx.node('MatMul', [mean, onnx.floats([1, 1858], new Float32Array(1858))], {}, '/output/policy');
  onnx.node('MatMul', [mean, onnx.floats([1, 3], new Float32Array(3).fill(Number.NaN))], {}, '/output/wdl');
  onnx.output('/output/policy', ['batch', 1858]);
  onnx.output('/output/wdl', ['batch', 3]);
  const warnings: string[] = [];
  const model = { bytes: onnx.finish({}), name: 'nan.onnx' };
  const [answer] = await evaluateWith({ backend: 'cpu', model, onWarning: (text) => warnings.push(text) }, [{}]);
  assert.equal(answer.kind, FAILED);
  assert.match(warnings.at(-1) ?? '', /No position can be evaluated any more: the network gave NaN/);
});

/** Evaluates one and four positions at a time, and no other number. */
async function createNetworkForFour(batch: number | string): Promise<Model> {
  const onnx = new OnnxWriter();
  const planes = onnx.input('/input/planes', [batch, 112, 8, 8]);
  const mean = onnx.node('ReduceMean', [onnx.node('Flatten', [planes], { axis: 1 })], { axes: [1], keepdims: 1 });
  const onlyFour = onnx.node('Add', [mean, onnx.floats([4, 1], new Float32Array(4))]);
  onnx.node('MatMul', [onlyFour, onnx.floats([1, 1858], new Float32Array(1858))], {}, '/output/policy');
  onnx.node('MatMul', [onlyFour, onnx.floats([1, 3], new Float32Array(3))], {}, '/output/wdl');
  onnx.output('/output/policy', [batch, 1858]);
  onnx.output('/output/wdl', [batch, 3]);
  return unwrap(await loadModel({ bytes: onnx.finish({}), name: 'four.onnx' }));
}

async function create(model: Model, optionsText: string, batchSizes: readonly number[]): Promise<void> {
  const [onCpu] = plan('cpu', optionsText);
  assert.ok(onCpu.evaluator.kind === 'onnx');
  const devicePlan = { ...onCpu, evaluator: { ...onCpu.evaluator, batchSizes } };
  await (await evaluatorFactory.create(devicePlan, model, 0)).dispose();
}

test('each batch size of a device is tried out when the network is loaded', async () => {
  const model = await createNetworkForFour('batch');
  await create(model, '', [4]);
  await assert.rejects(create(model, '', [4, 8]), /\b8\b/);
  await create(model, 'max_batch=4', [4, 8]);
});

test('a network with a fixed batch keeps it, whatever min_batch says', async () => {
  await create(await createNetworkForFour(4), 'min_batch=5', []);
});

// lc0's backends that are made of others.

const LEAVES: readonly TestLeaf[] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].flatMap((file) => [
  { path: `${file}2${file}3` },
  { path: `${file}2${file}4` },
]);

function plan(backend: string, optionsText: string, threads = 0): readonly BackendPlan[] {
  return unwrap(planBackend({ backend, optionsText, threads, minibatch: 0 }));
}

function describeMembers({ evaluator }: BackendPlan): string[] {
  assert.equal(evaluator.kind, 'team');
  return (evaluator.kind === 'team' ? evaluator.members : []).map((member) =>
    member.kind === 'onnx'
      ? `${member.provider} ${member.devices} ${member.precision} ${member.mostRows}`
      : member.kind,
  );
}

test('configurations of lc0 for several devices give each part its threads', () => {
  const [two, cpu] = plan(
    'multiplexing',
    'a(backend=cuda-fp16,gpu=0,threads=2),b(backend=cuda-fp16,gpu=1,max_batch=64)',
  );
  assert.deepEqual(describeMembers(two), [
    'cuda 0 f16 Infinity',
    'cuda 1 f16 64',
    'cuda 0 f16 Infinity',
    'cuda 1 f16 64',
  ]);
  assert.deepEqual([two.name, two.threads, two.minibatch, cpu.name], ['cuda', 4, 256, 'cpu']);
  for (const backend of ['roundrobin', 'demux']) {
    const [same] = plan(backend, 'backend=cudnn,(gpu=0),(gpu=1)');
    assert.deepEqual(describeMembers(same).slice(0, 2), ['cuda 0 f16 Infinity', 'cuda 1 f16 Infinity']);
  }
  const [mixed] = plan('multiplexing', 'cuda(threads=1),cpu(threads=3)');
  assert.deepEqual(describeMembers(mixed), ['cuda 0 f32 Infinity', ...Array(3).fill('cpu 0 f32 Infinity')]);
  assert.equal(plan('multiplexing', 'cuda(threads=1),cpu(threads=3)', 2)[0].threads, 2, 'Threads overrules');
  assert.equal(plan('demux', 'backend=blas,threads=32')[0].threads, 32);
  assert.equal(plan('multiplexing', '')[0].evaluator.kind, 'team');
});

test('what is wrong with a part is one sentence', () => {
  for (const [backend, optionsText, sentence] of [
    ['multiplexing', 'a(gpu=0)', /^Part a of backend multiplexing names no backend: write a\(backend=cuda,…\)$/],
    ['demux', '(backend=check)', /cannot contain check/],
    ['roundrobin', 'cpu(treads=2)', /has no option "cpu.treads"/],
    ['check', 'cpu(),hash(),random()', /compares two/],
    ['check', 'mode=loud', /one of check, display, histo/],
    ['check', 'freq=2', /freq must be a number from 0 to 1/],
    ['multiplexing', 'mode=histo', /has no option "mode"/],
  ] as const) {
    const result = planBackend({ backend, optionsText, threads: 0, minibatch: 0 });
    assert.ok(!result.ok, optionsText);
    assert.match(result.error, sentence);
  }
});

test('a pool shares its leaves out over evaluators of several kinds, each answers', async () => {
  const pool = await EvaluatorPool.create({
    backend: 'multiplexing',
    backendOptions: 'a(backend=cpu,threads=1),b(backend=cpu,threads=2,max_batch=2)',
    model: { bytes: createRandomNetwork(TINY), name: 'random.onnx' },
    minibatch: 4,
    onWarning: assert.fail,
  });
  try {
    assert.equal(pool.threads, 3);
    assert.equal(pool.network.backend, 'cpu');
    const answers = await evaluateLeaves(new LeafQueue(pool.handle), LEAVES);
    assert.equal(new Set(answers.map(({ valueWl }) => valueWl)).size, LEAVES.length);
  } finally {
    await pool.dispose();
  }
});

test('check reports how far two backends differ, and plays on with the first', async () => {
  const run = async (backendOptions: string): Promise<string[]> => {
    const notes: string[] = [];
    const pool = await EvaluatorPool.create({
      backend: 'check',
      backendOptions,
      model: { bytes: createRandomNetwork(TINY), name: 'random.onnx' },
      threads: 1,
      minibatch: 4,
      onWarning: (text) => notes.push(text),
    });
    await evaluateLeaves(new LeafQueue(pool.handle), LEAVES);
    await pool.dispose();
    return notes;
  };
  const same = await run('freq=1,cpu(),cpu(optimize=1)');
  assert.match(
    same[0],
    /^Check of cpu against cpu: 0 of 1 batches differ \(\d+ positions\); largest differences: W−L /,
  );
  const other = await run('freq=1,mode=histo,cpu(),hash()');
  assert.match(other[0], /^Check of cpu against hash: 1 batches compared .*; sizes: 1e-?\d+: \d+/);
  assert.match((await run('freq=1,cpu(),hash()'))[0], /: 1 of 1 batches differ /);
  assert.deepEqual(await run('freq=0,cpu(),hash()'), []);
});
