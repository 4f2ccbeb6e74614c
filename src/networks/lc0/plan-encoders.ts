/** Plans encoder layers and the attention body (source: lc0 neural/onnx/converter.cc and neural/backends/blas). */
import {
  type Activation,
  type AttentionBody,
  type DenseLayer,
  EMBEDDED_PLANES,
  type EncoderLayer,
  type FeedForward,
  INPUT_PLANES,
  type LayerNorm,
  NetworkError,
  type PositionEncoding,
  type Smolgen,
} from '../onnx/index.js';
import { isPresent, readDense, readDenseWithoutBias, readLayerNorm, readVector } from './layer-encoding.js';
import {
  type EncoderLayerMessage,
  type FeedForwardMessage,
  InputEmbedding,
  type SmolgenMessage,
  type WeightsMessage,
} from './net-schema.js';

const SMOLGEN_EPSILON = 1e-3;

export interface EncoderContext {
  readonly activation: Activation;
  readonly feedForwardActivation: Activation;
  readonly smolgenActivation: Activation;
  readonly smolgenW: WeightsMessage['smolgenW'];
  readonly epsilon: number;
  readonly residualScale: number;
}

export function planEncoder(
  message: EncoderLayerMessage,
  width: number,
  heads: number,
  context: EncoderContext,
  name: string,
): EncoderLayer {
  const mha = message.mha ?? {};
  if (mha.rpeQ || mha.rpeK || mha.rpeV) {
    throw new NetworkError('its attention uses relative position encodings (RPE), which lc0 does not support either');
  }
  const query = readDense(mha.qW, mha.qB, width, `${name}.mha.q`);
  const modelSize = query.outputs;
  const key = readDense(mha.kW, mha.kB, width, `${name}.mha.k`);
  const value = readDense(mha.vW, mha.vB, width, `${name}.mha.v`);
  if (key.outputs !== modelSize || value.outputs !== modelSize) {
    throw new NetworkError(`${name} has queries, keys and values of different sizes`);
  }
  if (heads < 1 || modelSize % heads !== 0) {
    throw new NetworkError(`${name} cannot divide its ${modelSize} values among ${heads} attention heads`);
  }
  const output = readDense(mha.denseW, mha.denseB, modelSize, `${name}.mha.dense`);
  if (output.outputs !== width) throw new NetworkError(`${name}.mha.dense does not return to ${width} values`);
  return {
    attention: {
      heads,
      modelSize,
      query,
      key,
      value,
      output,
      ...(mha.smolgen ? { smolgen: planSmolgen(mha.smolgen, width, heads, context, `${name}.mha.smolgen`) } : {}),
    },
    attentionNorm: readLayerNorm(message.ln1Gammas, message.ln1Betas, width, context.epsilon, `${name}.ln1`),
    feedForward: planFeedForward(message.ffn, width, context.feedForwardActivation, `${name}.ffn`),
    feedForwardNorm: readLayerNorm(message.ln2Gammas, message.ln2Betas, width, context.epsilon, `${name}.ln2`),
    residualScale: context.residualScale,
  };
}

function planFeedForward(
  message: FeedForwardMessage | undefined | null,
  width: number,
  activation: Activation,
  name: string,
): FeedForward {
  const first = readDense(message?.dense1W, message?.dense1B, width, `${name}.dense1`);
  const second = readDense(message?.dense2W, message?.dense2B, first.outputs, `${name}.dense2`);
  if (second.outputs !== width) throw new NetworkError(`${name}.dense2 does not return to ${width} values`);
  return { first, second, activation };
}

function planSmolgen(
  message: SmolgenMessage,
  width: number,
  heads: number,
  context: EncoderContext,
  name: string,
): Smolgen {
  const compress = readDenseWithoutBias(message.compress, width, `${name}.compress`);
  const first = readDense(message.dense1W, message.dense1B, 64 * compress.outputs, `${name}.dense1`);
  const second = readDense(message.dense2W, message.dense2B, first.outputs, `${name}.dense2`);
  if (second.outputs % heads !== 0) {
    throw new NetworkError(`${name}.dense2 cannot divide its ${second.outputs} values among ${heads} heads`);
  }
  const generatorInputs = second.outputs / heads;
  const generator: DenseLayer = {
    inputs: generatorInputs,
    outputs: 4096,
    weights: readVector(context.smolgenW, 'smolgen_w', generatorInputs * 4096),
  };
  return {
    compress,
    first,
    firstNorm: readLayerNorm(message.ln1Gammas, message.ln1Betas, first.outputs, SMOLGEN_EPSILON, `${name}.ln1`),
    second,
    secondNorm: readLayerNorm(message.ln2Gammas, message.ln2Betas, second.outputs, SMOLGEN_EPSILON, `${name}.ln2`),
    generator,
    activation: context.smolgenActivation,
  };
}

/** @param bodyChannels channels of the convolutional body below this one; 0 if it starts from the planes */
export function planAttentionBody(
  weights: WeightsMessage,
  bodyChannels: number,
  inputEmbedding: number,
  context: EncoderContext,
): AttentionBody {
  const isDenseEmbedding = inputEmbedding === InputEmbedding.INPUT_EMBEDDING_PE_DENSE;
  let positions: PositionEncoding = { kind: 'none' };
  let embeddingInputs = bodyChannels;
  if (bodyChannels === 0) {
    if (isDenseEmbedding) {
      const inputs = 64 * EMBEDDED_PLANES;
      const preprocess = readDense(weights.ipEmbPreprocW, weights.ipEmbPreprocB, inputs, 'ip_emb_preproc');
      if (preprocess.outputs % 64 !== 0)
        throw new NetworkError('ip_emb_preproc does not give every square the same width');
      positions = { kind: 'dense', preprocess };
      embeddingInputs = INPUT_PLANES + preprocess.outputs / 64;
    } else if (inputEmbedding === InputEmbedding.INPUT_EMBEDDING_PE_MAP) {
      positions = { kind: 'map' };
      embeddingInputs = INPUT_PLANES + 64;
    } else {
      throw new NetworkError('its attention body has no input embedding');
    }
  }
  const embedding = readDense(weights.ipEmbW, weights.ipEmbB, embeddingInputs, 'ip_emb');
  const width = embedding.outputs;
  const norm = (gammas: WeightsMessage['ipEmbB'], betas: WeightsMessage['ipEmbB'], name: string): LayerNorm =>
    readLayerNorm(gammas, betas, width, 1e-3, name);
  const heads = weights.headcount ?? 0;
  return {
    positions,
    embedding,
    ...(isDenseEmbedding
      ? {
          embeddingNorm: norm(weights.ipEmbLnGammas, weights.ipEmbLnBetas, 'ip_emb_ln'),
          embeddingFeedForward: planFeedForward(weights.ipEmbFfn, width, context.feedForwardActivation, 'ip_emb_ffn'),
          embeddingFeedForwardNorm: norm(weights.ipEmbFfnLnGammas, weights.ipEmbFfnLnBetas, 'ip_emb_ffn_ln'),
        }
      : {}),
    ...(isPresent(weights.ipMultGate)
      ? { multiplyGate: readVector(weights.ipMultGate, 'ip_mult_gate', 64 * width) }
      : {}),
    ...(isPresent(weights.ipAddGate) ? { addGate: readVector(weights.ipAddGate, 'ip_add_gate', 64 * width) } : {}),
    encoders: (weights.encoder ?? []).map((encoder, index) =>
      planEncoder(encoder, width, heads, context, `encoder[${index}]`),
    ),
    residualScale: context.residualScale,
  };
}
