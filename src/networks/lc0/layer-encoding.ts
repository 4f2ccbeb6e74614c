/**
 * Reads single layers from lc0's messages, and derives and checks their sizes. lc0 stores no shapes: a layer's width is the
 * length of its bias vector.
 */
import { getFloat16Table } from '../../base/util/index.js';
import {
  type ConvolutionLayer,
  type DenseLayer,
  fromFloats,
  type LayerNorm,
  materialise,
  NetworkError,
  scaleRows,
  type TensorSource,
} from '../onnx/index.js';
import { type ConvBlockMessage, getEnumName, LayerEncoding, type LayerMessage } from './net-schema.js';

/** Added to the variance of a BatchNorm (lc0 neural/network_legacy.cc). */
export const BATCH_NORM_EPSILON = 1e-5;
/** Far wider than any network; limits products of sizes that come from a file. */
const MAX_WIDTH = 1 << 20;

export function isPresent(layer: LayerMessage | undefined | null): layer is LayerMessage {
  return layer != null && (layer.params?.length ?? 0) > 0;
}

export function readVector(layer: LayerMessage | undefined | null, name: string, length?: number): TensorSource {
  if (!isPresent(layer)) throw new NetworkError(`layer ${name} is missing`);
  const source = decodeLayer(layer, name);
  if (length !== undefined && source.length !== length) {
    throw new NetworkError(`layer ${name} has ${source.length} values where ${length} are needed`);
  }
  if (length === undefined && source.length > MAX_WIDTH) throw new NetworkError(`layer ${name} is impossibly wide`);
  return source;
}

/** @param inputs width of the layer before it */
export function readDense(
  weights: LayerMessage | undefined | null,
  biases: LayerMessage | undefined | null,
  inputs: number,
  name: string,
): DenseLayer {
  const biasSource = readVector(biases, `${name}_b`);
  const outputs = biasSource.length;
  return { inputs, outputs, weights: readVector(weights, `${name}_w`, inputs * outputs), biases: biasSource };
}

/** A dense layer without biases. Its width follows from the number of weights. */
export function readDenseWithoutBias(
  weights: LayerMessage | undefined | null,
  inputs: number,
  name: string,
): DenseLayer {
  if (!isPresent(weights)) throw new NetworkError(`layer ${name} is missing`);
  const source = decodeLayer(weights, name);
  if (inputs === 0 || source.length % inputs !== 0) {
    throw new NetworkError(`layer ${name} has ${source.length} values, which is no multiple of its ${inputs} inputs`);
  }
  return { inputs, outputs: source.length / inputs, weights: source };
}

export function readLayerNorm(
  gammas: LayerMessage | undefined | null,
  betas: LayerMessage | undefined | null,
  size: number,
  epsilon: number,
  name: string,
): LayerNorm {
  return {
    size,
    gammas: readVector(gammas, `${name}_gammas`, size),
    betas: readVector(betas, `${name}_betas`, size),
    epsilon,
  };
}

/**
 * A convolution with its BatchNorm folded in. Despite its name, `bn_stddivs` holds the variance. Networks of 2018 have no
 * gammas and betas.
 */
export function readConvolution(
  block: ConvBlockMessage | undefined | null,
  kernel: 1 | 3,
  inputs: number,
  name: string,
): ConvolutionLayer {
  if (!isPresent(block?.weights)) throw new NetworkError(`layer ${name} is missing`);
  const weights = decodeLayer(block.weights, `${name}.weights`);
  const widthLayer = isPresent(block.biases) ? block.biases : block.bnMeans;
  const outputs = readVector(widthLayer, `${name}.biases`).length;
  if (weights.length !== outputs * inputs * kernel * kernel) {
    const needed = `${outputs}×${inputs}×${kernel}×${kernel}`;
    throw new NetworkError(`layer ${name}.weights has ${weights.length} values where ${needed} are needed`);
  }
  const readPart = (layer: LayerMessage | undefined | null, part: string): Float32Array =>
    materialise(readVector(layer, `${name}.${part}`, outputs));
  const biases = isPresent(block.biases) ? readPart(block.biases, 'biases') : new Float32Array(outputs);
  if (!isPresent(block.bnMeans)) return { inputs, outputs, kernel, weights, biases: fromFloats(biases) };

  const means = readPart(block.bnMeans, 'bn_means');
  const variances = readPart(block.bnStddivs, 'bn_stddivs');
  const hasAffine = isPresent(block.bnBetas);
  const gammas = hasAffine ? readPart(block.bnGammas, 'bn_gammas') : new Float32Array(outputs).fill(1);
  const betas = hasAffine ? readPart(block.bnBetas, 'bn_betas') : new Float32Array(outputs);
  const scales = new Float32Array(outputs);
  for (let channel = 0; channel < outputs; channel++) {
    const scale = gammas[channel] / Math.sqrt(variances[channel] + BATCH_NORM_EPSILON);
    if (!Number.isFinite(scale)) throw new NetworkError(`layer ${name} has a BatchNorm with a negative variance`);
    scales[channel] = scale;
    biases[channel] = betas[channel] - scale * (means[channel] - biases[channel]);
  }
  return { inputs, outputs, kernel, weights: scaleRows(weights, scales), biases: fromFloats(biases) };
}

/** The values of a layer as stored in the file. @param name lc0's name of the layer, for errors */
export function decodeLayer(layer: LayerMessage, name: string): TensorSource {
  const params = layer.params ?? new Uint8Array(0);
  const encoding = Object.hasOwn(layer, 'encoding') ? (layer.encoding ?? 0) : LayerEncoding.LINEAR16;
  const elementBytes = encoding === LayerEncoding.FLOAT32 ? 4 : 2;
  if (params.length % elementBytes !== 0) throw new NetworkError(`layer ${name} ends in the middle of a number`);
  const length = params.length / elementBytes;
  switch (encoding) {
    case LayerEncoding.LINEAR16:
      return decodeLinear16(params, length, layer.minVal ?? 0, layer.maxVal ?? 0, name);
    case LayerEncoding.FLOAT16:
      return decodeThroughTable(params, length, name);
    case LayerEncoding.BFLOAT16:
      return decodeBytes(params, length, 2, name);
    case LayerEncoding.FLOAT32:
      return decodeBytes(params, length, 4, name);
    default:
      throw new NetworkError(`layer ${name} has the unknown encoding ${getEnumName(LayerEncoding, encoding)}`);
  }
}

function decodeLinear16(params: Uint8Array, length: number, min: number, max: number, name: string): TensorSource {
  if (!Number.isFinite(min) || !Number.isFinite(max)) {
    throw new NetworkError(`layer ${name} has a range that is not a number`);
  }
  return {
    length,
    read(start, count, out) {
      let byte = start * 2;
      for (let i = 0; i < count; i++, byte += 2) {
        const theta = (params[byte] | (params[byte + 1] << 8)) / 65535;
        out[i] = min * (1 - theta) + max * theta;
      }
    },
  };
}

function decodeThroughTable(params: Uint8Array, length: number, name: string): TensorSource {
  const table = getFloat16Table();
  return {
    length,
    read(start, count, out) {
      let byte = start * 2;
      for (let i = 0; i < count; i++, byte += 2) out[i] = table[params[byte] | (params[byte + 1] << 8)];
      assertFinite(out, count, name);
    },
  };
}

/** FLOAT32 is copied; BFLOAT16 is the upper half of a FLOAT32. Only for little-endian hosts; all of Node's are. */
function decodeBytes(params: Uint8Array, length: number, elementBytes: 2 | 4, name: string): TensorSource {
  return {
    length,
    read(start, count, out) {
      const bytes = params.subarray(start * elementBytes, (start + count) * elementBytes);
      const target = new Uint8Array(out.buffer, out.byteOffset, count * 4);
      if (elementBytes === 4) target.set(bytes);
      else {
        for (let i = 0; i < count; i++) {
          target[4 * i] = 0;
          target[4 * i + 1] = 0;
          target[4 * i + 2] = bytes[2 * i];
          target[4 * i + 3] = bytes[2 * i + 1];
        }
      }
      assertFinite(out, count, name);
    },
  };
}

function assertFinite(values: Float32Array, count: number, name: string): void {
  // Zero times infinity or NaN is NaN; zero times any other number is zero. So one comparison checks a whole chunk.
  let poison = 0;
  for (let i = 0; i < count; i++) poison += values[i] * 0;
  if (poison !== 0) throw new NetworkError(`layer ${name} contains infinities or values that are not numbers`);
}
