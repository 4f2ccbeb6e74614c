/** Networks that were written before some format field existed are read as lc0 reads them. */
import { describe, it } from 'node:test';
import { compareWithReference } from '../../support/lc0-onnx.js';
import type { NetworkSpec } from '../../support/lc0-random-network.js';

const RESNET: NetworkSpec = { blocks: 1, filters: 6 };
/** What a file of that time leaves out. */
const WITHOUT_HEAD_FORMATS = { policy: undefined, value: undefined, output: undefined, movesLeft: undefined };
const CLASSICAL_HEADS = { policy: 1, value: 1 };

describe('a network of an older format', () => {
  it('without any format has a classical body and classical heads', () =>
    compareWithReference(
      { ...RESNET, hasFormat: false },
      { trueFormat: { network: 3, input: 1, ...CLASSICAL_HEADS } },
    ));

  it('of structure CLASSICAL has classical heads', () =>
    compareWithReference(
      { ...RESNET, format: { ...WITHOUT_HEAD_FORMATS, network: 1 } },
      { trueFormat: { network: 3, ...CLASSICAL_HEADS } },
    ));

  it('of structure SE has classical heads', () =>
    compareWithReference(
      { ...RESNET, seChannels: 2, format: { ...WITHOUT_HEAD_FORMATS, network: 2 } },
      { trueFormat: { network: 4, ...CLASSICAL_HEADS } },
    ));

  const transformer: NetworkSpec = { encoders: 1, policy: 'attention', value: 'wdl' };
  it('of structure SE_WITH_HEADFORMAT with encoders has an attention body with a positional map', () =>
    compareWithReference(
      { ...transformer, format: { network: 4, inputEmbedding: undefined } },
      { trueFormat: { network: 6, inputEmbedding: 1 } },
    ));

  it('of structure SE_WITH_HEADFORMAT with smolgen has squared ReLU and swish', () =>
    compareWithReference(
      { ...transformer, smolgen: true, format: { network: 4, inputEmbedding: undefined } },
      { trueFormat: { network: 6, inputEmbedding: 1, ffnActivation: 8, smolgenActivation: 7 } },
    ));

  it('of structure ATTENTIONBODY_WITH_HEADFORMAT with several heads has a dense embedding', () =>
    compareWithReference(
      { ...transformer, isMultiHead: true, positions: 'dense', format: { network: 6, inputEmbedding: undefined } },
      { trueFormat: { network: 7, inputEmbedding: 2 } },
    ));

  it('of structure AB_LEGACY_WITH_MULTIHEADFORMAT is a multi-head network', () =>
    compareWithReference(
      { ...transformer, isMultiHead: true, positions: 'dense', format: { network: 134 } },
      { trueFormat: { network: 7 } },
    ));
});
