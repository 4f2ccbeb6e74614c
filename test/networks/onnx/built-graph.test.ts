/** Every body, head and activation: the ONNX graph computes what the plain reference computes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { loadLc0Network } from '#sardonyx/networks/lc0/index.js';
import { findChannelBlock } from '#sardonyx/networks/onnx/index.js';
import { encodeNetworkFile } from '../../support/lc0-network-file.js';
import { compareWithReference } from '../../support/lc0-onnx.js';
import { createRandomNetwork, type NetworkSpec } from '../../support/lc0-random-network.js';

const RESNET: NetworkSpec = { blocks: 2, filters: 6 };
const TRANSFORMER: NetworkSpec = { encoders: 2, policy: 'attention', value: 'wdl' };

/** Sizes and heads of the smallest networks that people run: one number as value, either policy. */
const SMALL: Readonly<Record<string, NetworkSpec>> = {
  '32 filters in 4 blocks with a classical value': { blocks: 4, filters: 32, seChannels: 4, policy: 'convolution' },
  '16 filters in 2 blocks with a classical value': { blocks: 2, filters: 16 },
};

const KINDS: Readonly<Record<string, NetworkSpec>> = {
  ...SMALL,
  'a residual network with classical heads': { ...RESNET },
  'a residual network with squeeze-excitation': { ...RESNET, seChannels: 3 },
  'a residual network with mish': { ...RESNET, seChannels: 3, format: { defaultActivation: 1 } },
  'a residual network with WDL and moves left': { ...RESNET, value: 'wdl', movesLeft: true },
  'a convolutional policy': { ...RESNET, policy: 'convolution' },
  'an attention policy on a convolutional body': { ...RESNET, policy: 'attention' },
  'an attention policy with encoders on a convolutional body': { ...RESNET, policy: 'attention', policyEncoders: 2 },
  'an input convolution without blocks': { blocks: 0, filters: 4 },
  'BatchNorm without gammas': { ...RESNET, batchNorm: 'plain' },
  'no BatchNorm': { ...RESNET, batchNorm: 'none', seChannels: 2 },
  'an attention body with a positional map': { ...TRANSFORMER, positions: 'map', movesLeft: true },
  'an attention body with gates': { ...TRANSFORMER, positions: 'map', gates: true },
  'an attention body with smolgen': { ...TRANSFORMER, positions: 'map', smolgen: true, gates: true },
  'an attention body with a dense embedding': { ...TRANSFORMER, positions: 'dense', smolgen: true },
  'an attention body on a convolutional body': { ...TRANSFORMER, blocks: 1, filters: 6, gates: true },
  'an attention body with a scalar value': { ...TRANSFORMER, value: 'classical' },
  'an attention body with one head': { ...TRANSFORMER, heads: 1, modelSize: 4 },
  'an attention body with policy encoders': { ...TRANSFORMER, policyEncoders: 1 },
  'mish in an attention body': { ...TRANSFORMER, smolgen: true, format: { defaultActivation: 1 } },
};

describe('a converted network agrees with the reference', () => {
  for (const [name, spec] of Object.entries(KINDS)) it(`for ${name}`, () => compareWithReference(spec));

  const activations = ['mish', 'relu', 'none', 'tanh', 'sigmoid', 'selu', 'swish', 'squared relu', 'softmax'];
  for (const [index, name] of activations.entries()) {
    it(`for ${name} in feed-forward layers`, () =>
      compareWithReference({ ...TRANSFORMER, format: { ffnActivation: index + 1 } }));
    if (name === 'softmax') continue;
    it(`for ${name} in smolgen`, () =>
      compareWithReference({ ...TRANSFORMER, smolgen: true, format: { smolgenActivation: index + 1 } }));
  }

  for (const encoding of ['LINEAR16', 'FLOAT16', 'BFLOAT16', 'FLOAT32'] as const) {
    it(`for weights in ${encoding}`, () => compareWithReference({ ...RESNET, encodings: [encoding], movesLeft: true }));
  }
  it('for weights in several encodings', () =>
    compareWithReference({ ...TRANSFORMER, encodings: ['FLOAT16', 'LINEAR16', 'FLOAT32', 'BFLOAT16'] }));

  const multi: NetworkSpec = { ...TRANSFORMER, positions: 'dense', isMultiHead: true, movesLeft: true };
  for (const [policy, policyHead] of [
    ['vanilla', 'vanilla'],
    ['optimisticSt', 'optimistic'],
    ['soft', 'soft'],
    ['opponent', 'opponent'],
  ] as const) {
    it(`for the policy head ${policyHead}`, () =>
      compareWithReference(multi, { heads: { policy }, load: { policyHead } }));
  }
  for (const value of ['winner', 'q', 'st'] as const) {
    it(`for the value head ${value}`, () =>
      compareWithReference(multi, { heads: { value }, load: { valueHead: value } }));
  }

  it('in half precision, roughly, for a residual network', () =>
    compareWithReference({ ...RESNET, seChannels: 3 }, { load: { precision: 'f16' }, tolerance: 0.02 }));
  it('in half precision, roughly, for a transformer', () =>
    compareWithReference(
      { ...TRANSFORMER, positions: 'dense', smolgen: true, movesLeft: true, format: { defaultActivation: 1 } },
      { load: { precision: 'f16' }, tolerance: 0.02 },
    ));
});

const channelBlock = await findChannelBlock();
const skip = channelBlock === 0 ? 'ONNX Runtime has no blocked convolutions here' : false;

describe('rank convolutions agree with the reference', { skip }, () => {
  const tower: NetworkSpec = { blocks: 2, filters: 32 };
  const kinds: Readonly<Record<string, NetworkSpec>> = {
    ...SMALL,
    'classical heads': { ...tower, movesLeft: true },
    'squeeze-excitation and WDL': { ...tower, seChannels: 5, value: 'wdl' },
    'squeeze-excitation with mish': { ...tower, seChannels: 5, format: { defaultActivation: 1 } },
    'a convolutional policy': { ...tower, policy: 'convolution', value: 'wdl', movesLeft: true },
    'an attention policy with encoders': { ...tower, policy: 'attention', policyEncoders: 1 },
    'an input convolution without blocks': { blocks: 0, filters: 16 },
  };
  for (const [name, spec] of Object.entries(kinds)) {
    it(`for ${name}`, () => compareWithReference(spec, { load: { channelBlock } }));
  }

  const load = async (spec: NetworkSpec, options: { channelBlock: number; precision?: 'f16' }): Promise<Uint8Array> => {
    const file = encodeNetworkFile(createRandomNetwork(spec));
    return unwrap(await loadLc0Network(file, { cacheFolder: null, ...options })).onnx;
  };
  for (const [name, spec] of Object.entries({
    'a width that is no multiple of the block': { blocks: 1, filters: 20 },
    'an attention body': { ...TRANSFORMER, blocks: 1, filters: 32 },
  })) {
    it(`and are not used for ${name}`, async () => {
      assert.deepEqual(await load(spec, { channelBlock }), await load(spec, { channelBlock: 0 }));
    });
  }
  it('and are not used in half precision', async () => {
    const precision = 'f16';
    assert.deepEqual(await load(tower, { channelBlock, precision }), await load(tower, { channelBlock: 0, precision }));
  });
});
