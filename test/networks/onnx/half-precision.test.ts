import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { convertLeelaToOnnx } from '#sardonyx/networks/lc0/index.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { decodeModel, EvaluatorPool, TensorType } from '#sardonyx/networks/nn/index.js';
import { halveModel } from '#sardonyx/networks/onnx/index.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { createRandomPlanes, openModel, runModel } from '../../support/lc0-onnx.js';
import { createRandomNetwork, type NetworkSpec } from '../../support/lc0-random-network.js';
import { createRandomLeaves, evaluateLeaves, type LeafAnswer } from '../../support/leaf-driver.js';
import { OnnxWriter } from '../../support/onnx-writer.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const leaves = createRandomLeaves(5, 60);

async function evaluate(bytes: Uint8Array): Promise<LeafAnswer[]> {
  const model = { bytes, name: 'test.onnx' };
  const pool = await EvaluatorPool.create({ backend: 'cpu', model, threads: 1, minibatch: 4 });
  try {
    return await evaluateLeaves(new LeafQueue(pool.handle), leaves);
  } finally {
    await pool.dispose();
  }
}

/** Of the bytes of a table, half precision saves none. */
const TABLE_BYTES = 64 * 4096;

for (const name of ['tiny-test.onnx', 'default.onnx', 'default-large.onnx']) {
  test(`${name} in half precision is half as large and thinks the same`, async () => {
    const single = readFileSync(join(repositoryRoot, 'models', name));
    const half = halveModel(single);
    assert.ok(half !== null);
    const tables = name === 'tiny-test.onnx' ? 0 : TABLE_BYTES;
    assert.ok(half.length - tables < 0.6 * (single.length - tables), `${half.length} of ${single.length}`);
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

test('a quantised network, and one with a body for each phase of the game, stay as they are', () => {
  for (const name of ['default-int8.onnx', 'light.onnx'])
    assert.equal(halveModel(readFileSync(join(repositoryRoot, 'models', name))), null, name);
});

/** Processors without halves compute in single anyway, so that the types have to tell. */
function assertNormsAreSingle(onnx: Uint8Array): void {
  const graph = decodeModel(onnx)?.graph;
  const types = new Map((graph?.initializer ?? []).map(({ name, dataType }) => [name, dataType]));
  const seen = new Set<string>();
  for (const { opType = '', input = [], output = [], attribute } of graph?.node ?? []) {
    const to = attribute?.find(({ name }) => name === 'to')?.i;
    const type = opType === 'Cast' ? Number(to) : types.get(input[0]);
    for (const name of output) types.set(name, type);
    if (!['ReduceMean', 'Pow', 'Sqrt', 'Reciprocal'].includes(opType)) continue;
    assert.equal(type, TensorType.FLOAT, opType);
    seen.add(opType);
  }
  assert.ok(seen.has('ReduceMean') && seen.size > 1, [...seen].join(', '));
  assert.ok([...types.values()].includes(TensorType.FLOAT16), 'the rest is half');
}

async function computePolicies(models: readonly Uint8Array[], planes: Float32Array): Promise<Float32Array[]> {
  return Promise.all(models.map(async (onnx) => (await runModel(await openModel({ onnx }), planes)).policy));
}

function assertClose(actual: Float32Array, expected: Float32Array, tolerance: number): void {
  actual.forEach((logit, i) => {
    assert.ok(Math.abs(logit - expected[i]) < tolerance, `${logit}, ${expected[i]}`);
  });
}

const TRANSFORMER: NetworkSpec = { encoders: 2, policy: 'attention', format: { defaultActivation: 1 } };

test('layer norms that are spelt out stay single, and the network thinks the same', async () => {
  const file = encodeNetworkFile(createRandomNetwork(TRANSFORMER));
  const single = unwrap(await convertLeelaToOnnx(file, { usesSimpleOperators: true })).onnx;
  const half = halveModel(single);
  assert.ok(half !== null);
  assertNormsAreSingle(half);
  const [expected, actual] = await computePolicies([single, half], createRandomPlanes(3, 2));
  assertClose(actual, expected, 0.02 * Math.max(...expected.map(Math.abs)));
});

for (const [name, build] of Object.entries({
  'Pow, Reciprocal and constants that others use': (onnx: OnnxWriter, x: string) => {
    const two = onnx.floats([1], Float32Array.of(2));
    const epsilon = onnx.floats([1], Float32Array.of(1e-6));
    const mean = onnx.node('ReduceMean', [x], { axes: [1], keepdims: 1 });
    const difference = onnx.node('Sub', [x, mean]);
    const squares = onnx.node('Pow', [difference, two]);
    const variance = onnx.node('ReduceMean', [squares], { axes: [1], keepdims: 1 });
    const deviation = onnx.node('Sqrt', [onnx.node('Add', [epsilon, variance])]);
    const norm = onnx.node('Mul', [difference, onnx.node('Reciprocal', [deviation])]);
    return onnx.node('Mul', [norm, two]);
  },
  'an RMS norm by the power of −0.5': (onnx: OnnxWriter, x: string) => {
    const squares = onnx.node('Mul', [x, x]);
    const mean = onnx.node('ReduceMean', [squares], { axes: [1], keepdims: 1 });
    const sum = onnx.node('Add', [mean, onnx.floats([1], Float32Array.of(1e-6))]);
    return onnx.node('Mul', [x, onnx.node('Pow', [sum, onnx.floats([1], Float32Array.of(-0.5))])]);
  },
})) {
  test(`a norm with ${name} is found`, async () => {
    const onnx = new OnnxWriter();
    const planes = onnx.input('planes', ['batch', 112, 8, 8]);
    const flat = onnx.node('Flatten', [planes], { axis: 1 });
    const norm = build(onnx, onnx.node('Mul', [flat, onnx.floats([1], Float32Array.of(400))]));
    onnx.node('Identity', [norm], {}, '/output/policy');
    onnx.output('/output/policy', ['batch', 7168]);
    const single = onnx.finish({});
    const half = halveModel(single);
    assert.ok(half !== null);
    assertNormsAreSingle(half);
    const [expected, actual] = await computePolicies([single, half], createRandomPlanes(4, 1));
    assertClose(actual, expected, 0.02);
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
