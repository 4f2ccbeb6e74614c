/** Every body, head and activation: the ONNX graph computes what the plain reference computes. */
import { describe, it } from 'node:test';
import { compareWithReference } from '../support/lc0-onnx.js';
import type { NetworkSpec } from '../support/lc0-random-network.js';

const RESNET: NetworkSpec = { blocks: 2, filters: 6 };
const TRANSFORMER: NetworkSpec = { encoders: 2, policy: 'attention', value: 'wdl' };

const KINDS: Readonly<Record<string, NetworkSpec>> = {
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
