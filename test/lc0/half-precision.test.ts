import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { convertLeelaToOnnx, halveModel } from '#sardonyx/lc0/index.js';
import { decodeModel } from '#sardonyx/lc0/onnx-model.js';
import { TensorType } from '#sardonyx/lc0/onnx-schema.js';
import { EvaluatorPool, LeafQueue } from '#sardonyx/nn/index.js';
import { unwrap } from '#sardonyx/util/index.js';
import { encodeNetworkFile } from '../support/lc0-network-file.js';
import { createRandomNetwork } from '../support/lc0-random-network.js';
import { evaluateLeaves, type LeafAnswer } from '../support/leaf-driver.js';
import { createRandomLeaves } from '../support/random-leaves.js';
import { repositoryRoot } from '../support/shared-folder.js';

const leaves = createRandomLeaves(5, 60);

async function evaluate(bytes: Uint8Array): Promise<LeafAnswer[]> {
  const model = { bytes, name: 'test.onnx' };
  const pool = await EvaluatorPool.create({ backend: 'cpu', model, threads: 1, minibatch: 4 });
  try {
    return await evaluateLeaves(LeafQueue.attach(pool.handle), leaves);
  } finally {
    await pool.dispose();
  }
}

for (const name of ['tiny-test.onnx', 'default.onnx', 'default-large.onnx']) {
  test(`${name} in half precision is half as large and thinks the same`, async () => {
    const single = readFileSync(join(repositoryRoot, 'models', name));
    const half = halveModel(single);
    // A quantised network stays as it is.
    if (half === null) return assert.match(single.toString('latin1'), /Quantize/);
    assert.ok(half.length < 0.6 * single.length, `${half.length} of ${single.length}`);
    const expected = await evaluate(single);
    const answers = await evaluate(half);
    answers.forEach((answer, i) => {
      assert.ok(Math.abs(answer.valueWl - expected[i].valueWl) < 0.01, `${answer.valueWl}, ${expected[i].valueWl}`);
      assert.ok(Math.abs(answer.valueD - expected[i].valueD) < 0.01);
      const priors = new Map(expected[i].moves.map((move, k) => [move, expected[i].priors[k]]));
      answer.moves.forEach((move, k) => {
        assert.ok(Math.abs(answer.priors[k] - (priors.get(move) ?? 0)) < 0.01);
      });
    });
  });
}

test('what is no network, or is half already, is left alone', async () => {
  assert.equal(halveModel(new Uint8Array([1, 2, 3])), null);
  const half = halveModel(readFileSync(join(repositoryRoot, 'models', 'tiny-test.onnx')));
  assert.ok(half !== null);
  assert.equal(halveModel(half), null);
  const transformer = encodeNetworkFile(
    createRandomNetwork({ encoders: 1, policy: 'attention', format: { defaultActivation: 1 } }),
  );
  // Its layer norms are spelt out in single precision.
  const guarded = unwrap(await convertLeelaToOnnx(transformer, { precision: 'f16', usesSimpleOperators: true })).onnx;
  const types = decodeModel(guarded)?.graph?.initializer?.map(({ dataType }) => dataType) ?? [];
  assert.ok(types.includes(TensorType.FLOAT16) && types.includes(TensorType.FLOAT));
  assert.equal(halveModel(guarded), null);
});
