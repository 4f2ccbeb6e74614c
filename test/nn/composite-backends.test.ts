/** lc0's backends that are made of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BackendPlan, planBackend } from '#sardonyx/nn/backend/backend-plan.js';
import { EvaluatorPool, LeafQueue } from '#sardonyx/nn/index.js';
import { unwrap } from '#sardonyx/util/index.js';
import { evaluateLeaves, type TestLeaf } from '../support/leaf-driver.js';
import { createRandomNetwork, TINY } from '../support/random-network.js';

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
