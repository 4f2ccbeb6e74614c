/** `leela2onnx` and `onnx2leela`: what they write runs, and there and back changes no answer. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { concatBytes, unwrap } from '#sardonyx/base/util/index.js';
import { parseNet } from '#sardonyx/networks/lc0/container.js';
import {
  convertLeelaToOnnx,
  describeNetworkFile,
  formatDescription,
  type Leela2OnnxOptions,
  loadLc0Network,
  type Onnx2LeelaOptions,
  wrapOnnxModel,
} from '#sardonyx/networks/lc0/index.js';
import { decodeModel, EXTERNAL_DATA, encodeModel, type ModelMessage } from '#sardonyx/networks/nn/index.js';
import { recogniseNetwork } from '#sardonyx/networks/nn/model/network-format.js';
import { describeHeader } from '#sardonyx/networks/nn/model/onnx-header.js';
import { parseOnnxModel } from '#sardonyx/networks/nn/model/onnx-messages.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { assertClose, createRandomPlanes, openModel, runModel } from '../../support/lc0-onnx.js';
import { createRandomNetwork, type NetworkSpec } from '../../support/lc0-random-network.js';
import { repositoryRoot } from '../../support/shared-folder.js';
import { WireWriter } from '../../support/wire-writer.js';

const RESNET: NetworkSpec = { blocks: 1, filters: 4, seChannels: 2, value: 'wdl', movesLeft: true };
const TRANSFORMER: NetworkSpec = { encoders: 1, policy: 'attention', smolgen: true, format: { defaultActivation: 1 } };
const planes = createRandomPlanes(3, 1);
const WITHOUT_CACHE = { cacheFolder: null };

async function convert(spec: NetworkSpec, options: Leela2OnnxOptions = {}): Promise<Uint8Array> {
  return unwrap(await convertLeelaToOnnx(encodeNetworkFile(createRandomNetwork(spec)), options)).onnx;
}

function decode(onnx: Uint8Array): ModelMessage {
  const model = decodeModel(onnx);
  assert.ok(model?.graph);
  return model;
}

/** The model with a further output that equals another. */
function addOutput(onnx: Uint8Array, name: string, of: string): Uint8Array {
  const { graph, ...model } = decode(onnx);
  const output = graph?.output?.find((info) => info.name === of);
  assert.ok(graph && output);
  graph.node = [...(graph.node ?? []), { opType: 'Identity', name, input: [of], output: [name] }];
  graph.output = [...(graph.output ?? []), { ...output, name }];
  return encodeModel({ ...model, graph, metadataProps: [] });
}

describe('leela2onnx', () => {
  for (const [name, spec] of [
    ['a residual network', RESNET],
    ['a transformer', TRANSFORMER],
  ] as const) {
    it(`gives the same answers in every operator set, for ${name}`, async () => {
      const expected = await runModel(await openModel({ onnx: await convert(spec) }), planes);
      for (const opset of [7, 8, 10, 11, 13, 16, 18]) {
        const onnx = await convert(spec, { opset });
        assert.equal(Number(decode(onnx).opsetImport?.[0].version), opset);
        const actual = await runModel(await openModel({ onnx }), planes);
        assertClose(actual.policy, expected.policy, 1e-5, `policy of operator set ${opset}`);
      }
    });
  }

  it('needs no LayerNormalization when told so', async () => {
    const onnx = await convert(TRANSFORMER, { usesSimpleOperators: true, opset: 18 });
    assert.ok(!decode(onnx).graph?.node?.some((node) => node.opType === 'LayerNormalization'));
    const expected = await runModel(await openModel({ onnx: await convert(TRANSFORMER) }), planes);
    assertClose((await runModel(await openModel({ onnx }), planes)).policy, expected.policy, 1e-5, 'policy');
  });

  it('stores weights as bfloat16 when told so', async () => {
    const plain = await convert(RESNET);
    const onnx = await convert(RESNET, { precision: 'bf16' });
    assert.ok(onnx.length < plain.length * 0.6);
    const expected = await runModel(await openModel({ onnx: plain }), planes);
    assertClose((await runModel(await openModel({ onnx }), planes)).policy, expected.policy, 0.03, 'policy');
  });

  it('fixes the batch and the names when told so', async () => {
    const names = { input: 'board', policy: 'moves', wdl: 'chances', value: 'worth', movesLeft: 'plies' };
    const onnx = await convert(RESNET, { batchSize: 3, irVersion: 9, names });
    const { graph, irVersion } = decode(onnx);
    assert.equal(Number(irVersion), 9);
    assert.equal(graph?.input?.[0].name, 'board');
    assert.equal(Number(graph?.input?.[0].type?.tensorType?.shape?.dim?.[0].dimValue), 3);
    assert.deepEqual(
      graph?.output?.map((output) => output.name),
      ['moves', 'chances', 'plies'],
    );
    await openModel({ onnx });
  });

  it('says why a file cannot be converted', async () => {
    const result = await convertLeelaToOnnx(Buffer.from('no network'));
    assert.ok(!result.ok);
    assert.match(result.error, /^Cannot convert the network: it is not an lc0 network file$/);
  });
});

describe('onnx2leela', () => {
  const wrap = async (onnx: Uint8Array, options: Onnx2LeelaOptions = {}) =>
    unwrap(await wrapOnnxModel(onnx, { structure: 'onnx', ...options }));

  for (const [name, spec] of [
    ['WDL and moves left', RESNET],
    ['a scalar value', TRANSFORMER],
  ] as const) {
    it(`wraps a network with ${name} so that it loads and answers as before`, async () => {
      const onnx = await convert(spec);
      const { file } = await wrap(onnx);
      const net = parseNet(gunzipSync(file));
      assert.ok(Buffer.from(onnx).equals(net.onnxModel?.model ?? new Uint8Array(0)));
      assert.equal(net.format?.networkFormat?.network, 5);
      const loaded = unwrap(await loadLc0Network(file, WITHOUT_CACHE));
      assert.equal(loaded.info.hasMovesLeft, spec.movesLeft === true);
      const expected = await runModel(await openModel({ onnx }), planes);
      assert.deepEqual(await runModel(await openModel(loaded), planes), expected);
      const extracted = unwrap(await convertLeelaToOnnx(file));
      assert.ok(extracted.wasEmbedded);
      assert.deepEqual(extracted.onnx, onnx);
    });
  }

  it('keeps names of its own, and loading gives them the usual ones', async () => {
    const names = { input: 'board', policy: 'p', wdl: 'w', value: 'v', movesLeft: 'plies left' };
    const onnx = await convert(RESNET, { names });
    const { file, notes } = await wrap(onnx);
    assert.ok(notes.length > 0);
    const net = parseNet(gunzipSync(file));
    assert.equal(net.onnxModel?.outputMlh, 'plies left');
    const actual = await runModel(await openModel(unwrap(await loadLc0Network(file, WITHOUT_CACHE))), planes);
    const expected = await runModel(await openModel({ onnx: await convert(RESNET) }), planes);
    assert.deepEqual(actual, expected);
  });

  it('keeps the input format of the model', async () => {
    const onnx = await convert({ ...RESNET, format: { input: 5 } });
    const { file } = await wrap(onnx);
    assert.equal(parseNet(gunzipSync(file)).format?.networkFormat?.input, 5);
    const forced = await wrap(onnx, { inputFormat: 'INPUT_112_WITH_CASTLING_PLANE' });
    assert.equal(parseNet(gunzipSync(forced.file)).format?.networkFormat?.input, 2);
  });

  it('divides the rule-50 plane by 99', async () => {
    const onnx = await convert(RESNET);
    const { file } = await wrap(onnx, { fixRule50: true });
    const wrapped = unwrap(await loadLc0Network(file, WITHOUT_CACHE));
    const scaled = planes.slice();
    for (let square = 0; square < 64; square++) scaled[109 * 64 + square] /= 99;
    const expected = await runModel(await openModel({ onnx }), scaled);
    assertClose((await runModel(await openModel(wrapped), planes)).policy, expected.policy, 1e-5, 'policy');
  });

  it('puts a softmax behind WDL logits', async () => {
    const onnx = await convert(RESNET);
    const model = decode(onnx);
    const softmax = model.graph?.node?.find((node) => node.opType === 'Softmax');
    assert.ok(softmax);
    softmax.opType = 'Identity';
    softmax.attribute = [];
    for (const entry of model.metadataProps ?? []) {
      if (entry.key === 'sardonyx.value.activation') entry.value = 'logits';
    }
    const { file, notes } = await wrap(encodeModel(model));
    assert.ok(notes.some((note) => /softmax/.test(note)));
    const actual = await runModel(await openModel(unwrap(await loadLc0Network(file, WITHOUT_CACHE))), planes);
    assert.deepEqual(actual, await runModel(await openModel({ onnx }), planes));
  });

  it('keeps fields it does not know when it changes a model', async () => {
    const unknown = new WireWriter().string(1000, 'of a later version').finish();
    const onnx = concatBytes([await convert(RESNET), unknown]);
    const { file } = await wrap(onnx, { fixRule50: true });
    const { model } = parseNet(gunzipSync(file)).onnxModel ?? {};
    assert.ok(Buffer.from(model ?? []).includes(Buffer.from(unknown)));
  });

  it('refuses a model whose input or policy lc0 does not know', async () => {
    const model = decode(await convert(RESNET));
    for (const [key, value, pattern] of [
      ['sardonyx.input', 'mini-19', /its input is "mini-19", which lc0 does not know/],
      ['sardonyx.policy', 'from-to-4096', /its policy is "from-to-4096", which lc0 does not know/],
    ] as const) {
      const metadataProps = [...(model.metadataProps ?? []).filter((entry) => entry.key !== key), { key, value }];
      const result = await wrapOnnxModel(encodeModel({ ...model, metadataProps }));
      assert.ok(!result.ok);
      assert.match(result.error, pattern);
    }
  });

  const headed: Readonly<Record<string, [spec: NetworkSpec, further: string, of: string]>> = {
    'policy, policy_soft and value': [RESNET, 'policy_soft', 'policy'],
    'value and value_st': [RESNET, 'value_st', 'value'],
    'a scalar value and uncertainty': [{ blocks: 1, filters: 4, movesLeft: true }, 'uncertainty', 'value'],
  };
  for (const [name, [spec, further, of]] of Object.entries(headed)) {
    it(`takes the outputs that the engine takes: ${name}`, async () => {
      const names = { input: 'board', policy: 'policy', wdl: 'value', value: 'value', movesLeft: 'plies_left' };
      const onnx = addOutput(await convert(spec, { names }), further, of);
      const format = unwrap(recogniseNetwork(describeHeader(unwrap(parseOnnxModel(onnx)))));
      assert.deepEqual(
        [format.policy.name, format.value.name, format.movesLeft?.name],
        ['policy', 'value', 'plies_left'],
      );
      const { onnxModel } = parseNet(gunzipSync((await wrap(onnx)).file));
      assert.deepEqual(
        [onnxModel?.outputPolicy, onnxModel?.outputWdl || onnxModel?.outputValue, onnxModel?.outputMlh],
        ['policy', 'value', 'plies_left'],
      );
    });
  }

  it('takes what it was told for nothing else', async () => {
    const names = { input: 'board', policy: 'policy', wdl: 'a', value: 'a', movesLeft: 'b' };
    const onnx = await convert({ blocks: 1, filters: 4, movesLeft: true }, { names });
    const { onnxModel } = parseNet(gunzipSync((await wrap(onnx, { onnxOutputMlh: 'a' })).file));
    assert.deepEqual([onnxModel?.outputMlh, onnxModel?.outputValue], ['a', 'b']);
  });

  it('refuses a model whose weights lie in another file, and describenet says where they are', async () => {
    const model = decode(await convert(RESNET));
    for (const tensor of model.graph?.initializer ?? []) {
      delete tensor.rawData;
      Object.assign(tensor, { dataLocation: EXTERNAL_DATA, externalData: [{ key: 'location', value: 'weights' }] });
    }
    const onnx = encodeModel(model);
    const result = await wrapOnnxModel(onnx);
    assert.deepEqual(result, {
      ok: false,
      error: 'Cannot wrap the model: it keeps its weights in another file; save the model with all of them inside',
    });
    const text = formatDescription(unwrap(await describeNetworkFile(onnx)));
    assert.match(text, /Parameters: [\d,]+, stored in another file\n/);
  });

  it('refuses names that do not exist, and files that are not ONNX', async () => {
    const onnx = await convert(RESNET);
    const missing = await wrapOnnxModel(onnx, { onnxOutputPolicy: '/nowhere' });
    assert.ok(!missing.ok);
    assert.match(missing.error, /has no output "\/nowhere"; it has "\/output\/policy"/);
    const wrongFormat = await wrapOnnxModel(onnx, { inputFormat: 'constructor' });
    assert.ok(!wrongFormat.ok);
    const text = await wrapOnnxModel(Buffer.from('not a model'));
    assert.ok(!text.ok);
    assert.match(text.error, /it is not an ONNX model/);
  });
});

describe("onnx2leela, of a graph that is one of lc0's residual networks", () => {
  const kinds: Readonly<Record<string, NetworkSpec>> = {
    'squeeze-excitation, WDL and moves left': RESNET,
    'plain blocks and a scalar value': { blocks: 2, filters: 5 },
    'a convolutional policy': { blocks: 1, filters: 4, policy: 'convolution', value: 'wdl' },
    'an attention policy': { blocks: 1, filters: 4, seChannels: 2, policy: 'attention', value: 'wdl', movesLeft: true },
  };
  for (const [name, spec] of Object.entries(kinds)) {
    it(`writes weights that answer as before: ${name}`, async () => {
      const onnx = await convert(spec);
      const { file } = unwrap(await wrapOnnxModel(onnx));
      const net = parseNet(gunzipSync(file));
      assert.equal(net.onnxModel, null);
      assert.equal(
        net.format?.networkFormat?.policy,
        { classical: 1, convolution: 2, attention: 3 }[spec.policy ?? 'classical'],
      );
      const actual = await runModel(await openModel(unwrap(await loadLc0Network(file, WITHOUT_CACHE))), planes);
      const expected = await runModel(await openModel({ onnx }), planes);
      assertClose(actual.policy, expected.policy, 3e-4, 'policy');
      assertClose(actual.wdl ?? actual.value, expected.wdl ?? expected.value ?? [], 3e-4, 'value');
      if (spec.movesLeft) assertClose(actual.movesLeft, expected.movesLeft ?? [], 3e-4, 'moves left');
    });
  }

  it('reads the graphs of our own training', async () => {
    const onnx = readFileSync(join(repositoryRoot, 'test', 'fixtures', 'exported-resnet.onnx'));
    const { file } = unwrap(await wrapOnnxModel(new Uint8Array(onnx), { structure: 'weights' }));
    const actual = await runModel(await openModel(unwrap(await loadLc0Network(file, WITHOUT_CACHE))), planes);
    const expected = await runModel(await openModel({ onnx: new Uint8Array(onnx) }), planes);
    assertClose(actual.policy, expected.policy, 1e-3, 'policy');
    assertClose(actual.wdl, expected.wdl ?? [], 1e-3, 'value');
    assertClose(actual.movesLeft, expected.movesLeft ?? [], 1e-3, 'moves left');
  });

  it('multiplies the scaled rule-50 plane into the weights', async () => {
    const onnx = await convert(RESNET);
    const { file } = unwrap(await wrapOnnxModel(onnx, { structure: 'weights', fixRule50: true }));
    const scaled = planes.slice();
    for (let square = 0; square < 64; square++) scaled[109 * 64 + square] /= 99;
    const actual = await runModel(await openModel(unwrap(await loadLc0Network(file, WITHOUT_CACHE))), planes);
    const expected = await runModel(await openModel({ onnx }), scaled);
    assertClose(actual.policy, expected.policy, 3e-4, 'policy');
  });

  it('is not caught in a circle of nodes', async () => {
    const model = decode(await convert(RESNET));
    const [relu] = model.graph?.node?.filter((node) => node.name === '/block0/relu') ?? [];
    assert.ok(relu.output);
    Object.assign(relu, { opType: 'Identity', input: relu.output });
    const refused = await wrapOnnxModel(encodeModel(model), { structure: 'weights' });
    assert.ok(!refused.ok);
    assert.match(refused.error, /without end/);
  });

  it('wraps what it does not recognise, unless weights are wanted', async () => {
    const onnx = await convert(TRANSFORMER);
    const { file, notes } = unwrap(await wrapOnnxModel(onnx));
    assert.equal(parseNet(gunzipSync(file)).format?.networkFormat?.network, 5);
    assert.ok(notes.some((note) => /wrapped as it is/.test(note)));
    const refused = await wrapOnnxModel(onnx, { structure: 'weights' });
    assert.ok(!refused.ok);
    assert.match(refused.error, /no residual network of lc0's kind/);
  });
});

describe('describenet', () => {
  it("prints lc0's lines", async () => {
    const text = formatDescription(unwrap(await describeNetworkFile(encodeNetworkFile(createRandomNetwork(RESNET)))));
    assert.equal(
      text,
      `
General
~~~~~~~
         Minimal Lc0 version: v0.21.0

Format
~~~~~~
            Weights encoding: LINEAR16
                       Input: INPUT_CLASSICAL_112_PLANE
                     Network: NETWORK_SE_WITH_HEADFORMAT
                      Policy: POLICY_CLASSICAL
                       Value: VALUE_WDL
                         MLH: MOVES_LEFT_V1

Training Parameters
~~~~~~~~~~~~~~~~~~~
              Training steps: 123456
                    Accuracy: 50.5

Weights
~~~~~~~
                      Blocks: 1
                   SE blocks: 1
                     Filters: 4
                      Policy: Dense
           Policy activation: ACTIVATION_DEFAULT
             Policy channels: 2
                       Value: WDL
                         MLH: Present

Size
~~~~
                  Parameters: 249,352
        FLOPs per evaluation: 1,043,104
`,
    );
  });

  it('counts the weights of an int8 model, not what says how they are rounded', async () => {
    const [FLOAT, INT8, INT32, INT64, BOOL] = [1, 3, 6, 7, 9];
    const tensor = (name: string, dataType: number, ...dims: number[]) => ({ name, dataType, dims });
    const int8 = encodeModel({
      irVersion: 8,
      graph: {
        node: [
          { opType: 'DequantizeLinear', input: ['weight', 'scale', 'zero'], output: ['w'] },
          { opType: 'DequantizeLinear', input: ['bias', 'biasScale', 'biasZero'], output: ['b'] },
          { opType: 'Reshape', input: ['x', 'shape'], output: ['flat'] },
          { opType: 'Gemm', input: ['flat', 'w', 'b'], output: ['y'] },
          { opType: 'MatMulInteger', input: ['y', 'other', 'yZero', 'otherZero'], output: ['z'] },
        ],
        initializer: [
          tensor('weight', INT8, 8, 5),
          tensor('scale', FLOAT, 5),
          tensor('zero', INT8, 5),
          tensor('bias', INT32, 5),
          tensor('biasScale', FLOAT, 5),
          tensor('biasZero', INT32, 5),
          tensor('shape', INT64, 2),
          tensor('other', INT8, 5, 3),
          tensor('yZero', INT8),
          tensor('otherZero', INT8, 3),
          tensor('mask', BOOL, 64, 64),
        ],
      },
    });
    const text = formatDescription(unwrap(await describeNetworkFile(int8)));
    assert.match(text, /Parameters: 60\n/);
  });

  it('describes every part of a transformer, and the ONNX model it becomes', async () => {
    const spec: NetworkSpec = { ...TRANSFORMER, policyEncoders: 1, isMultiHead: true, positions: 'dense' };
    const rows = new Map(
      unwrap(await describeNetworkFile(encodeNetworkFile(createRandomNetwork(spec)))).flatMap(
        (section) => section.rows,
      ),
    );
    assert.equal(rows.get('Encoders'), '1');
    assert.equal(rows.get('Policy encoders'), '1');
    assert.equal(rows.get('Policy heads'), 'vanilla, optimistic, soft, opponent');
    assert.equal(rows.get('Value heads'), 'winner, q, st');
    assert.equal(rows.get('Input embedding'), 'INPUT_EMBEDDING_PE_DENSE');
    const [section] = unwrap(await describeNetworkFile(await convert(spec)));
    assert.equal(section.title, 'ONNX model');
  });
});
