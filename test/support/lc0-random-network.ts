/** Small random networks of every family, described in a few words: which body, which heads, which activations. */
import {
  type ConvBlock,
  type EncoderLayers,
  type FfnLayers,
  type FormatNumbers,
  type LayerEncodingName,
  LayerSource,
  type NetworkFile,
  type PolicyLayers,
  type SmolgenLayers,
  type ValueLayers,
  type WeightLayers,
} from './lc0-network-file.js';

export interface NetworkSpec {
  readonly seed?: number;
  readonly encodings?: readonly LayerEncodingName[];
  /** Residual blocks; 0 for a pure attention body. */
  readonly blocks?: number;
  readonly filters?: number;
  readonly seChannels?: number;
  /** gammas: BatchNorm as lc0 writes it today; plain: means and variances only (2018); none: biases only. */
  readonly batchNorm?: 'gammas' | 'plain' | 'none';
  readonly encoders?: number;
  readonly embedding?: number;
  readonly heads?: number;
  readonly modelSize?: number;
  readonly feedForwardSize?: number;
  readonly smolgen?: boolean;
  readonly gates?: boolean;
  readonly positions?: 'map' | 'dense';
  readonly policy?: 'classical' | 'convolution' | 'attention';
  readonly policyEncoders?: number;
  readonly value?: 'classical' | 'wdl';
  /** Channels and hidden width of the value head; lc0's own converter only knows 32 and 128. */
  readonly valueSizes?: readonly [number, number];
  readonly movesLeft?: boolean;
  readonly isMultiHead?: boolean;
  /** Values of the format message, over those that follow from the rest. */
  readonly format?: FormatNumbers;
  /** false: no format message at all. */
  readonly hasFormat?: boolean;
}

const HEADS_OF_POLICY_ENCODERS = 2;

export function createRandomNetwork(spec: NetworkSpec): NetworkFile {
  const blocks = spec.blocks ?? 0;
  const filters = spec.filters ?? 8;
  const encoders = spec.encoders ?? 0;
  const embedding = spec.embedding ?? 12;
  const heads = spec.heads ?? 2;
  const modelSize = spec.modelSize ?? 8;
  const policy = spec.policy ?? 'classical';
  const isWdl = spec.value === 'wdl';
  const layers = new LayerSource(spec.seed ?? 1, spec.encodings ?? ['LINEAR16']);
  const draw = createDrawing(layers, spec);
  const weights: WeightLayers = {};

  if (blocks > 0 || encoders === 0) {
    weights.input = draw.convolution(filters, 112, 3);
    weights.residual = Array.from({ length: blocks }, () => ({
      conv1: draw.convolution(filters, filters, 3),
      conv2: draw.convolution(filters, filters, 3),
      ...(spec.seChannels
        ? {
            se: {
              w1: layers.weights(spec.seChannels, filters),
              b1: layers.biases(spec.seChannels),
              w2: layers.weights(2 * filters, spec.seChannels),
              b2: layers.biases(2 * filters),
            },
          }
        : {}),
    }));
  }
  if (encoders > 0) {
    let inputs = filters;
    if (blocks === 0 && spec.positions === 'dense') {
      const added = 3;
      weights.ipEmbPreprocW = layers.weights(64 * added, 64 * 12);
      weights.ipEmbPreprocB = layers.biases(64 * added);
      inputs = 112 + added;
    } else if (blocks === 0) {
      inputs = 112 + 64;
    }
    weights.ipEmbW = layers.weights(embedding, inputs);
    weights.ipEmbB = layers.biases(embedding);
    if (spec.positions === 'dense') {
      weights.ipEmbLnGammas = layers.draw(embedding, 0.5, 1);
      weights.ipEmbLnBetas = layers.biases(embedding);
      weights.ipEmbFfn = draw.feedForward(embedding);
      weights.ipEmbFfnLnGammas = layers.draw(embedding, 0.5, 1);
      weights.ipEmbFfnLnBetas = layers.biases(embedding);
    }
    if (spec.gates) {
      weights.ipMultGate = layers.draw(64 * embedding, 0.5, 1);
      weights.ipAddGate = layers.biases(64 * embedding);
    }
    if (spec.smolgen) weights.smolgenW = layers.weights(4096, SMOLGEN_GENERATED);
    weights.encoder = Array.from({ length: encoders }, () => draw.encoder(embedding, heads, modelSize, !!spec.smolgen));
    weights.headcount = heads;
  }

  const width = encoders > 0 ? embedding : filters;
  const sharesEmbedding = spec.isMultiHead === true;
  const drawPolicy = (): PolicyLayers => {
    if (policy === 'classical') {
      return {
        policy: draw.convolution(2, width, 1),
        ipPolW: layers.weights(1858, 2 * 64),
        ipPolB: layers.biases(1858),
      };
    }
    if (policy === 'convolution') {
      return { policy1: draw.convolution(width, width, 3), policy: draw.convolution(80, width, 3) };
    }
    const inner = sharesEmbedding ? SHARED_POLICY_EMBEDDING : 10;
    return {
      ...(sharesEmbedding ? {} : { ipPolW: layers.weights(inner, width), ipPolB: layers.biases(inner) }),
      ip2PolW: layers.weights(6, inner),
      ip2PolB: layers.biases(6),
      ip3PolW: layers.weights(6, inner),
      ip3PolB: layers.biases(6),
      ip4PolW: layers.weights(4, 6),
      ...(spec.policyEncoders
        ? {
            polEncoder: Array.from({ length: spec.policyEncoders }, () =>
              draw.encoder(inner, HEADS_OF_POLICY_ENCODERS, 6, false),
            ),
            polHeadcount: HEADS_OF_POLICY_ENCODERS,
          }
        : {}),
    };
  };
  const drawValue = (): ValueLayers => {
    const [channels, hidden] = spec.valueSizes ?? [4, 16];
    return {
      ...(encoders > 0
        ? { ipValW: layers.weights(channels, width), ipValB: layers.biases(channels) }
        : { value: draw.convolution(channels, width, 1) }),
      ip1ValW: layers.weights(hidden, channels * 64),
      ip1ValB: layers.biases(hidden),
      ip2ValW: layers.weights(isWdl ? 3 : 1, hidden),
      ip2ValB: layers.biases(isWdl ? 3 : 1),
    };
  };
  if (sharesEmbedding) {
    weights.policyHeads = {
      ipPolW: layers.weights(SHARED_POLICY_EMBEDDING, width),
      ipPolB: layers.biases(SHARED_POLICY_EMBEDDING),
      vanilla: drawPolicy(),
      optimisticSt: drawPolicy(),
      soft: drawPolicy(),
      opponent: drawPolicy(),
    };
    weights.valueHeads = { winner: drawValue(), q: drawValue(), st: drawValue() };
  } else {
    Object.assign(weights, drawPolicy(), drawValue());
  }
  if (spec.movesLeft) {
    const channels = 2;
    Object.assign(
      weights,
      encoders > 0
        ? { ipMovW: layers.weights(channels, width), ipMovB: layers.biases(channels) }
        : { movesLeft: draw.convolution(channels, width, 1) },
    );
    weights.ip1MovW = layers.weights(8, channels * 64);
    weights.ip1MovB = layers.biases(8);
    weights.ip2MovW = layers.draw(8, 1, 0.5);
    weights.ip2MovB = layers.draw(1, 0.5, 3);
  }

  const format: FormatNumbers = {
    input: 1,
    output: isWdl ? 2 : 1,
    network: encoders > 0 ? (spec.isMultiHead ? 7 : 6) : spec.seChannels ? 4 : 3,
    policy: { classical: 1, convolution: 2, attention: 3 }[policy],
    value: isWdl ? 2 : 1,
    movesLeft: spec.movesLeft ? 1 : 0,
    ...(encoders > 0 ? { inputEmbedding: spec.positions === 'dense' ? 2 : 1 } : {}),
    ...spec.format,
  };
  return { weights, format: spec.hasFormat === false ? undefined : format };
}

const SMOLGEN_COMPRESSED = 2;
const SMOLGEN_HIDDEN = 5;
const SMOLGEN_GENERATED = 3;
const SHARED_POLICY_EMBEDDING = 11;

interface Drawing {
  convolution(outputs: number, inputs: number, kernel: number): ConvBlock;
  feedForward(width: number): FfnLayers;
  encoder(width: number, heads: number, modelSize: number, hasSmolgen: boolean): EncoderLayers;
}

function createDrawing(layers: LayerSource, spec: NetworkSpec): Drawing {
  const feedForwardSize = spec.feedForwardSize ?? 14;
  const feedForward = (width: number): FfnLayers => ({
    dense1W: layers.weights(feedForwardSize, width),
    dense1B: layers.biases(feedForwardSize),
    dense2W: layers.weights(width, feedForwardSize),
    dense2B: layers.biases(width),
  });
  const smolgen = (width: number, heads: number): SmolgenLayers => ({
    compress: layers.weights(SMOLGEN_COMPRESSED, width),
    dense1W: layers.weights(SMOLGEN_HIDDEN, 64 * SMOLGEN_COMPRESSED),
    dense1B: layers.biases(SMOLGEN_HIDDEN),
    ln1Gammas: layers.draw(SMOLGEN_HIDDEN, 0.5, 1),
    ln1Betas: layers.biases(SMOLGEN_HIDDEN),
    dense2W: layers.weights(heads * SMOLGEN_GENERATED, SMOLGEN_HIDDEN),
    dense2B: layers.biases(heads * SMOLGEN_GENERATED),
    ln2Gammas: layers.draw(heads * SMOLGEN_GENERATED, 0.5, 1),
    ln2Betas: layers.biases(heads * SMOLGEN_GENERATED),
  });
  return {
    feedForward,
    convolution(outputs, inputs, kernel) {
      const weights = layers.weights(outputs, inputs * kernel * kernel);
      const norm = spec.batchNorm ?? 'gammas';
      if (norm === 'none') return { weights, biases: layers.biases(outputs) };
      return {
        weights,
        ...(norm === 'plain' ? { biases: layers.biases(outputs) } : {}),
        bnMeans: layers.draw(outputs, 0.2),
        bnStddivs: layers.draw(outputs, 0.5, 1),
        ...(norm === 'gammas' ? { bnGammas: layers.draw(outputs, 0.5, 1), bnBetas: layers.biases(outputs) } : {}),
      };
    },
    encoder: (width, heads, modelSize, hasSmolgen) => ({
      mha: {
        qW: layers.weights(modelSize, width),
        qB: layers.biases(modelSize),
        kW: layers.weights(modelSize, width),
        kB: layers.biases(modelSize),
        vW: layers.weights(modelSize, width),
        vB: layers.biases(modelSize),
        denseW: layers.weights(width, modelSize),
        denseB: layers.biases(width),
        ...(hasSmolgen ? { smolgen: smolgen(width, heads) } : {}),
      },
      ln1Gammas: layers.draw(width, 0.5, 1),
      ln1Betas: layers.biases(width),
      ffn: feedForward(width),
      ln2Gammas: layers.draw(width, 0.5, 1),
      ln2Betas: layers.biases(width),
    }),
  };
}
