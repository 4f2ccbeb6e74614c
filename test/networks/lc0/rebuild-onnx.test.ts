import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { rebuildOnnx } from '#sardonyx/networks/lc0/index.js';
import { decodeModel, encodeModel, runOnCpu } from '#sardonyx/networks/nn/index.js';
import { describeHeader } from '#sardonyx/networks/nn/model/onnx-header.js';
import { parseOnnxModel } from '#sardonyx/networks/nn/model/onnx-messages.js';
import {
  BIAS_PRODUCT,
  createWinogradMatrices,
  PRODUCTS,
  RANKS,
} from '#sardonyx/networks/onnx/graph/rank-convolutions.js';
import { findChannelBlock } from '#sardonyx/networks/onnx/index.js';
import { createRandomPlanes } from '../../support/lc0-onnx.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const BATCH = 5;
/** Of our own training, random weights: 16 filters, 2 blocks, squeeze-excitation, attention policy, WDL, moves left. */
const exported = readFileSync(join(repositoryRoot, 'test', 'fixtures', 'exported-resnet.onnx'));
const channelBlock = await findChannelBlock();
const skip = channelBlock === 0 ? 'this processor has no blocked convolutions' : false;

it('a network of our training gives the same policy, value and moves left after rebuilding', { skip }, async () => {
  const rebuilt = await rebuildOnnx(exported, channelBlock, null);
  assert.ok(rebuilt, 'it was not recognised');
  const data = createRandomPlanes(7, BATCH);
  const dims = [BATCH, 112, 8, 8];
  const run = (onnx: Uint8Array): Promise<Float32Array[]> => {
    const outputs = describeHeader(unwrap(parseOnnxModel(onnx))).outputs.map(({ name, shape }) => [
      name,
      [BATCH, ...shape.slice(1)],
    ]);
    return runOnCpu(onnx, { '/input/planes': { data, dims } }, Object.fromEntries(outputs));
  };
  const before = await run(exported);
  const after = await run(rebuilt);
  const sort = (outputs: Float32Array[]) => outputs.sort((a, b) => b.length - a.length);
  assert.deepEqual(
    sort(after).map((output) => output.length),
    [1858 * BATCH, 3 * BATCH, BATCH],
  );
  sort(before).forEach((output, i) => {
    const scale = output.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1);
    const difference = output.reduce((most, value, at) => Math.max(most, Math.abs(value - after[i][at])), 0);
    assert.ok(difference <= 1e-4 * scale, `output ${i}: ${difference} of ${scale}`);
  });
});

it('what was rebuilt once comes from the cache, byte for byte', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const first = await rebuildOnnx(exported, channelBlock, folder);
  assert.ok(first);
  assert.deepEqual(await rebuildOnnx(exported, channelBlock, folder), first);
});

it('a network with a further head is rebuilt as well', { skip }, async () => {
  const { graph, ...model } = decodeModel(exported) ?? {};
  const policy = graph?.output?.find(({ name }) => name === '/output/policy');
  assert.ok(graph && policy);
  // Names of its own: lc0's would tell the heads apart.
  for (const node of graph.node ?? []) {
    node.output = (node.output ?? []).map((name) => (name === '/output/policy' ? 'policy' : name));
  }
  policy.name = 'policy';
  graph.node = [...(graph.node ?? []), { opType: 'Identity', input: ['policy'], output: ['policy_soft'] }];
  graph.output = [...(graph.output ?? []), { ...policy, name: 'policy_soft' }];
  assert.ok(await rebuildOnnx(encodeModel({ ...model, graph }), channelBlock, null));
});

it('what is no residual network, or no network, stays as it is', async () => {
  assert.equal(await rebuildOnnx(exported, 0, null), null);
  assert.equal(await rebuildOnnx(exported.subarray(0, 1000), 16, null), null);
  assert.equal(await rebuildOnnx(new Uint8Array([1, 2, 3]), 16, null), null);
  const withBoardFeatures = readFileSync(join(repositoryRoot, 'models', 'default.onnx'));
  assert.equal(await rebuildOnnx(withBoardFeatures, 16, null), null);
});

it('ten products give the eight outputs of a three-tap filter plus a bias', () => {
  const { forward, inverse, filter } = createWinogradMatrices();
  const prng = createPrng(3);
  const draw = (): number => prng.nextBelow(2001) / 1000 - 1;
  for (let round = 0; round < 100; round++) {
    const ranks = Array.from({ length: RANKS }, draw);
    const taps = [draw(), draw(), draw()];
    const bias = draw();
    const products = filter.map((row, product) => {
      const tap = row.reduce((sum, factor, i) => sum + factor * taps[i], 0);
      const rank = ranks.reduce((sum, value, i) => sum + forward[product * RANKS + i] * value, 0);
      return tap * rank + (product === BIAS_PRODUCT ? bias : 0);
    });
    for (let rank = 0; rank < RANKS; rank++) {
      const output = products.reduce((sum, value, product) => sum + inverse[rank * PRODUCTS + product] * value, 0);
      const expected = taps.reduce((sum, tap, i) => sum + tap * (ranks[rank + i - 1] ?? 0), bias);
      assert.ok(Math.abs(output - expected) < 2e-5, `${output} for ${expected}`);
    }
  }
});
