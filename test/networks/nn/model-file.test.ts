import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { unwrap } from '#sardonyx/base/util/index.js';
import { refuseLargeActivations } from '#sardonyx/networks/nn/evaluators/large-activations.js';
import { type GraphMessage, getWidth, loadModel, type Model } from '#sardonyx/networks/nn/index.js';
import { describeHeader } from '#sardonyx/networks/nn/model/onnx-header.js';
import { parseOnnxModel } from '#sardonyx/networks/nn/model/onnx-messages.js';
import { listHostileNetworks, listSoundNetworks } from '../../support/hostile-networks.js';
import { readModelSource } from '../../support/model-source.js';
import { OnnxWriter } from '../../support/onnx-writer.js';
import { createRandomNetwork, TINY } from '../../support/random-network.js';
import { repositoryRoot } from '../../support/shared-folder.js';

const tinyPath = `${repositoryRoot}/models/tiny-test.onnx`;

async function load(bytes: Uint8Array): Promise<Model> {
  return unwrap(await loadModel({ bytes, name: 'folder/some.onnx' }));
}

async function refuse(bytes: Uint8Array, sentence: RegExp): Promise<void> {
  const result = await loadModel({ bytes, name: 'some.onnx' });
  assert.ok(!result.ok, 'refused');
  assert.match(result.error, sentence);
}

/** A model with the given tensors and no computation. */
function createShell(
  inputs: readonly [string, readonly (number | string)[]][],
  outputs: readonly [string, readonly (number | string)[]][],
  metadata: Readonly<Record<string, string>> = {},
  elementType = 1,
): Uint8Array {
  const onnx = new OnnxWriter();
  for (const [name, shape] of inputs) onnx.input(name, shape, elementType);
  for (const [name, shape] of outputs) onnx.output(name, shape, elementType);
  return onnx.finish(metadata);
}

const PLANES: [string, (number | string)[]] = ['/input/planes', ['batch', 112, 8, 8]];
const POLICY: [string, (number | string)[]] = ['/output/policy', ['batch', 1858]];
const WDL: [string, (number | string)[]] = ['/output/wdl', ['batch', 3]];
const VALUE: [string, (number | string)[]] = ['/output/value', ['batch', 1]];
const MLH: [string, (number | string)[]] = ['/output/mlh', ['batch', 1]];

test('the tiny network in models/ is what its script writes', () => {
  assert.deepEqual(new Uint8Array(readFileSync(tinyPath)), new Uint8Array(createRandomNetwork(TINY)));
});

test('metadata says what a network is', async () => {
  const model = unwrap(await loadModel(readModelSource(tinyPath)));
  assert.equal(model.title, 'random 16x2');
  assert.equal(model.fileName, 'tiny-test.onnx');
  const { format } = model;
  assert.equal(format.inputEncoding.name, 'lc0-112');
  assert.equal(format.policyEncoding.name, 'lc0-1858');
  assert.equal(format.valueKind, 'wdl');
  assert.equal(format.movesLeft?.name, '/output/mlh');
});

test('the weights of a model are those of its branches too', () => {
  const initializer = [{ name: 'weights', dataType: 1, dims: [10], rawData: new Uint8Array(40) }];
  const choose = (g: GraphMessage): GraphMessage => ({ initializer, node: [{ opType: 'If', attribute: [{ g }] }] });
  const header = describeHeader({ graph: choose(choose({ initializer })) });
  assert.deepEqual([...header.bytesByType], [[1, 120]]);
  // A weight of a branch may have the name of an input, and a node any number of branches.
  const graphs = Array.from({ length: 200_000 }, () => ({ initializer: [{ ...initializer[0], name: 'planes' }] }));
  const many = describeHeader({ graph: { input: [{ name: 'planes' }], node: [{ attribute: [{ graphs }] }] } });
  assert.deepEqual([many.inputs.map(({ name }) => name), many.bytesByType.get(1)], [['planes'], 200_000 * 40]);
});

test('a network without metadata is recognised by names and shapes, as lc0 exports them', async () => {
  const bare = await load(createShell([PLANES], [POLICY, WDL, MLH]));
  assert.equal(bare.title, 'some');
  assert.equal(bare.format.inputEncoding.name, 'lc0-112');
  assert.equal(bare.format.valueKind, 'wdl');
  assert.deepEqual([bare.format.policy.name, bare.format.value.name], ['/output/policy', '/output/wdl']);
  assert.equal(bare.format.movesLeft?.name, '/output/mlh');
  assert.equal(bare.format.fixedBatch, null);

  const scalar = await load(createShell([PLANES], [POLICY, MLH, VALUE]));
  assert.equal(scalar.format.valueKind, 'scalar');
  assert.equal(scalar.format.value.name, '/output/value');
  assert.equal(scalar.format.movesLeft?.name, '/output/mlh');

  const both = await load(createShell([PLANES], [POLICY, VALUE, WDL]));
  assert.equal(both.format.value.name, '/output/wdl');
  assert.equal(both.format.movesLeft, null);

  const fixed = await load(
    createShell(
      [['x', [4, 112, 64]]],
      [
        ['p', [4, 1858]],
        ['v', [4, 1]],
      ],
    ),
  );
  assert.equal(fixed.format.fixedBatch, 4);
  assert.deepEqual(fixed.format.input.shape, [112, 64]);
  assert.deepEqual([fixed.format.policy.name, fixed.format.value.name], ['p', 'v']);

  const half = await load(createShell([PLANES], [POLICY, WDL], {}, 10));
  assert.ok(half.format.input.isFloat16 && half.format.value.isFloat16);
});

test('the heads that matter go before further ones, in whatever order the file lists them', async () => {
  const head = (name: string, width: number): [string, (number | string)[]] => [name, ['batch', width]];
  const cases: readonly (readonly [policies: string[], wdls: string[], expected: [string, string]])[] = [
    [
      ['policy_soft', 'policy'],
      ['value_st', 'value'],
      ['policy', 'value'],
    ],
    [
      ['/output/policy_soft', '/output/policy'],
      ['/output/wdl_q', '/output/wdl'],
      ['/output/policy', '/output/wdl'],
    ],
    [
      ['policy_optimistic_st', 'policy_vanilla'],
      ['value_q', 'value_winner'],
      ['policy_vanilla', 'value_winner'],
    ],
    [
      ['net/policySoft:0', 'net/policy:0'],
      ['net/value_q/Softmax', 'net/value/Softmax'],
      ['net/policy:0', 'net/value/Softmax'],
    ],
    [
      ['policy_soft', 'policy_opponent'],
      ['other', 'value_q'],
      ['policy_soft', 'value_q'],
    ],
  ];
  for (const [policies, wdls, expected] of cases) {
    const outputs = [...policies.map((name) => head(name, 1858)), ...wdls.map((name) => head(name, 3))];
    const { format } = await load(createShell([PLANES], outputs));
    assert.deepEqual([format.policy.name, format.value.name], expected);
  }
  const scalars = [head('policy', 1858), head('value_error', 1), head('value', 1), head('moves_left', 1)];
  const { format } = await load(createShell([PLANES], scalars));
  assert.deepEqual([format.value.name, format.movesLeft?.name], ['value', 'moves_left']);
});

test('metadata decides against the shape: another lc0 format, logits, a scalar beside WDL', async () => {
  const v2 = await load(
    createShell([PLANES], [POLICY, WDL, VALUE], {
      'sardonyx.input': 'INPUT_112_WITH_CANONICALIZATION_V2',
      'sardonyx.value': 'wdl',
      'sardonyx.value.activation': 'logits',
    }),
  );
  assert.equal(v2.format.inputEncoding.name, 'INPUT_112_WITH_CANONICALIZATION_V2');
  assert.equal(v2.format.valueKind, 'wdl-logits');
  const scalar = await load(createShell([PLANES], [POLICY, WDL, VALUE], { 'sardonyx.value': 'scalar' }));
  assert.equal(scalar.format.value.name, '/output/value');
});

test('what is unknown is refused by name', async () => {
  await refuse(
    createShell([['x', ['N', 3, 224, 224]]], [POLICY, WDL]),
    /^The network some\.onnx has the input "x" \[\?, 3, 224, 224\], which is not/,
  );
  await refuse(createShell([PLANES, ['y', ['N', 1]]], [POLICY, WDL]), /has 2 inputs \("\/input\/planes", "y"\)/);
  await refuse(
    createShell([PLANES], [['/output/policy', ['N', 1000]], WDL]),
    /no policy output of a known size .*1858 for lc0-1858.*"\/output\/policy" \[\?, 1000\]/,
  );
  await refuse(createShell([PLANES], [POLICY]), /has no value output/);
  await refuse(createShell([PLANES], [POLICY, MLH]), /has no value output/);
  await refuse(createShell([PLANES], [POLICY, VALUE], { 'sardonyx.value': 'wdl' }), /has no wdl output/);
  await refuse(
    createShell([PLANES], [POLICY, WDL], { 'sardonyx.input': 'planes-9' }),
    /unknown input encoding "planes-9"; known are lc0-112/,
  );
  await refuse(createShell([PLANES], [POLICY, WDL], { 'sardonyx.policy': 'moves' }), /unknown policy encoding "moves"/);
  await refuse(createShell([PLANES], [POLICY, WDL], { 'sardonyx.value': 'centipawns' }), /value head "centipawns"/);
  await refuse(
    createShell([PLANES], [POLICY, WDL], { 'sardonyx.value.activation': 'relu' }),
    /value activation "relu"/,
  );
  await refuse(
    createShell([['x', ['N', 19, 8, 8]]], [POLICY, WDL], { 'sardonyx.input': 'lc0-112' }),
    /says "lc0-112" \(112 planes\), but its input is "x" \[\?, 19, 8, 8\]/,
  );
  await refuse(
    createShell([PLANES], [POLICY, WDL], {}, 11),
    /neither 32-bit nor 16-bit floats in "\/input\/planes" \(ONNX type 11\)/,
  );
});

test('a tensor with an open dimension beside the batch has no width', () => {
  const widths = [[-1, 1858], [-1, -1], [-1, -1, 3], [-1, 0, 3], []].map((shape) => getWidth({ shape }));
  assert.deepEqual(widths, [1858, 0, 0, 0, 0]);
});

test('files that are no models, or only parts of one, are refused', async () => {
  const whole = createRandomNetwork(TINY);
  await refuse(new Uint8Array(0), /^Cannot read the network some\.onnx: the file is empty$/);
  await refuse(gzipSync(''), /the file is empty/);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a2146'.repeat(8)}\nsize 12345\n`;
  for (const bytes of [Buffer.from(pointer), gzipSync(pointer)])
    await refuse(bytes, /it is a Git LFS pointer in place of/);
  await refuse(new TextEncoder().encode('This is a text file, not a network.\n'.repeat(10)), /is not an ONNX model/);
  await refuse(
    Uint8Array.from({ length: 5000 }, (_, i) => (i * 2654435761) >>> 24),
    /is not an ONNX model/,
  );
  for (const share of [0.001, 0.3, 0.9, 0.999]) {
    await refuse(whole.slice(0, Math.floor(whole.length * share)), /is not an ONNX model, or is cut short/);
  }
});

test('a gzipped model is the model, and a damaged one is refused', async () => {
  const whole = createRandomNetwork(TINY);
  const packed = gzipSync(whole);
  const model = unwrap(await loadModel({ bytes: packed, name: 'nets/some.onnx.gz' }));
  assert.deepEqual(Buffer.from(model.bytes), Buffer.from(whole));
  assert.equal(model.title, 'random 16x2');
  const nameless = gzipSync(createShell([PLANES], [POLICY, WDL]));
  assert.equal(unwrap(await loadModel({ bytes: nameless, name: 'nets/some.onnx.gz' })).title, 'some');
  assert.equal(unwrap(await loadModel({ bytes: nameless, name: 'two\nlines.onnx' })).title, 'two lines');
  await refuse(packed.subarray(0, packed.length / 2), /^Cannot read the network some\.onnx: the file is cut off/);
  await refuse(packed.fill(0xaa, 100, 200), /^Cannot read the network some\.onnx: the compressed data are damaged$/);
});

for (const { name, bytes, sentence } of listHostileNetworks()) {
  test(`a model with ${name} is refused before it runs`, async () => {
    const model = await loadModel({ bytes, name: 'some.onnx' });
    if (!model.ok) assert.match(model.error, sentence);
    else await assert.rejects(refuseLargeActivations(model.value), sentence);
  });
}

for (const { name, bytes } of listSoundNetworks()) {
  test(`a model with ${name} is loaded, and its shapes are told without running it`, async () => {
    const model = await load(bytes);
    await refuseLargeActivations(model);
  });
}

test('weights of full 8 bits need wide sums; those of our export, which says so, do not', async () => {
  const build = (metadata: Record<string, string>, int8: number, floats: number): Promise<Model> => {
    const onnx = new OnnxWriter();
    onnx.input(...PLANES);
    for (const output of [POLICY, WDL]) onnx.output(...output);
    onnx.bytes([int8], new Int8Array(int8));
    onnx.floats([floats], new Float32Array(floats));
    return load(onnx.finish(metadata));
  };
  const described = async (...args: Parameters<typeof build>): Promise<[string, boolean]> => {
    const { precision, needsWideSums } = await build(...args);
    return [precision, needsWideSums];
  };
  assert.deepEqual(await described({}, 100, 10), ['int8', true]);
  assert.deepEqual(await described({ 'sardonyx.precision': 'int8' }, 100, 10), ['int8', false]);
  assert.deepEqual(await described({}, 10, 100), ['fp32', false]);
});

test('weights so small that a CPU computes slowly with them are 0, and the bytes that were given stay', async () => {
  const bytes = createRandomNetwork(TINY);
  const findWeights = (model: Uint8Array): DataView => {
    const { graph } = unwrap(parseOnnxModel(model));
    const data = graph?.initializer?.find(
      ({ dataType, rawData }) => dataType === 1 && (rawData?.length ?? 0) > 64,
    )?.rawData;
    assert.ok(data !== undefined);
    return new DataView(data.buffer, data.byteOffset, data.byteLength);
  };
  const given = findWeights(bytes);
  const [least, small, kept] = [1e-44, -1e-31, -1e-30];
  for (const [i, weight] of [least, small, kept, 0, 0.5].entries()) given.setFloat32(4 * i, weight, true);
  const before = bytes.slice();
  const loaded = findWeights(unwrap(await loadModel({ bytes, name: 'tiny weights.onnx' })).bytes);
  const read = (view: DataView) => [0, 1, 2, 3, 4].map((i) => view.getFloat32(4 * i, true));
  assert.deepEqual(read(loaded), [0, 0, Math.fround(kept), 0, 0.5]);
  assert.deepEqual(bytes, before);
});
