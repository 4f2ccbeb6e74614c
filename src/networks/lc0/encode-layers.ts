/** Encodes layers as lc0's messages: rounded for lc0, or exact for our own reader. */

import { type Affine, materialise } from '../onnx/index.js';
import { BATCH_NORM_EPSILON, decodeLayer } from './layer-encoding.js';
import { type ConvBlockMessage, LayerEncoding, type LayerMessage } from './net-schema.js';

/** Channels that are all zeros are not scaled. */
const LEAST_GAMMA = 1e-4;

export interface LayerEncoder {
  encodeLayer(values: Float32Array): LayerMessage;
  encodeConvolution(layer: Affine): ConvBlockMessage;
}

/**
 * LINEAR16, the only encoding that released versions of lc0 read: 65,536 steps from a layer's smallest to its largest
 * value. Two things keep the rounding loss small (without them the values of our first network moved by up to 0.004). A
 * BatchNorm gives each output channel of a convolution the full range. Rounding errors are carried from tap to tap, because the
 * rule-50 plane is constant, unscaled and up to 99.
 */
export const LINEAR16_ENCODER: LayerEncoder = { encodeLayer: (values) => encodeLinear16(values), encodeConvolution };

/** Single precision, which only our own reader accepts. */
export const FLOAT32_ENCODER: LayerEncoder = {
  encodeLayer: encodeFloat32,
  encodeConvolution: ({ weights, biases }) => ({ weights: encodeFloat32(weights), biases: encodeFloat32(biases) }),
};

function encodeFloat32(values: Float32Array): LayerMessage {
  const params = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { params, encoding: LayerEncoding.FLOAT32 };
}

/** @param group number of values within which rounding errors are carried on */
function encodeLinear16(values: Float32Array, group = 1): LayerMessage {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const steps = max > min ? 65535 / (max - min) : 0;
  const params = new Uint16Array(values.length);
  let carried = 0;
  for (let i = 0; i < values.length; i++) {
    if (i % group === 0) carried = 0;
    const exact = (values[i] - min) * steps + carried;
    params[i] = Math.min(65535, Math.max(0, Math.round(exact)));
    carried = exact - params[i];
  }
  return { minVal: min, maxVal: max, params: new Uint8Array(params.buffer), encoding: LayerEncoding.LINEAR16 };
}

function encodeConvolution({ weights, biases, outputs, kernel }: Affine): ConvBlockMessage {
  const rowLength = weights.length / outputs;
  const sizes = Float32Array.from({ length: outputs }, (_, channel) => {
    let size = 0;
    for (let i = channel * rowLength; i < (channel + 1) * rowLength; i++) size = Math.max(size, Math.abs(weights[i]));
    return size;
  });
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0) || 1;
  const gammas = encodeLinear16(sizes.map((size) => Math.max(size / largest, LEAST_GAMMA)));
  // Divided by the rounded gamma that the reader will multiply by, so the rounding of gammas costs nothing.
  const decodedGammas = materialise(decodeLayer(gammas, 'bn_gammas'));
  const equalised = weights.map((weight, i) => weight / decodedGammas[Math.floor(i / rowLength)]);
  return {
    weights: encodeLinear16(equalised, kernel * kernel),
    bnMeans: encodeLinear16(new Float32Array(outputs)),
    bnStddivs: encodeLinear16(new Float32Array(outputs).fill(1 - BATCH_NORM_EPSILON)),
    bnGammas: gammas,
    bnBetas: encodeLinear16(biases),
  };
}
