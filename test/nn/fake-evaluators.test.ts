import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatUciMove, type Move } from '#sardonyx/chess/index.js';
import { EVALUATED, EvaluatorPool, FAILED, LeafQueue, type PoolOptions } from '#sardonyx/nn/index.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer, type TestLeaf } from '../support/leaf-driver.js';
import { OnnxWriter } from '../support/onnx-writer.js';

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
