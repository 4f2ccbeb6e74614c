/**
 * Weights that are decoded in chunks while they are written into the ONNX file, and never held in memory as a whole; otherwise
 * a 100 MB network would exist three times. Sources wrap each other (decode, scale, concatenate).
 */
import { getFloat16Table } from './float-formats.js';
import { getEnumName, LayerEncoding } from './net-enums.js';
import type { LayerMessage } from './net-schema.js';
import { NetworkError } from './read-file.js';

export interface TensorSource {
  /** Number of elements. */
  readonly length: number;
  /** Writes elements start … start+count−1 to out[0 … count−1]. */
  read(start: number, count: number, out: Float32Array): void;
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

export function fromFloats(values: Float32Array): TensorSource {
  return {
    length: values.length,
    read(start, count, out) {
      out.set(values.subarray(start, start + count));
    },
  };
}

export function scaleSource(source: TensorSource, factor: number): TensorSource {
  return {
    length: source.length,
    read(start, count, out) {
      source.read(start, count, out);
      for (let i = 0; i < count; i++) out[i] *= factor;
    },
  };
}

/** Multiplies row r (`source.length / scales.length` elements) by scales[r]. */
export function scaleRows(source: TensorSource, scales: Float32Array): TensorSource {
  const rowLength = source.length / scales.length;
  return {
    length: source.length,
    read(start, count, out) {
      source.read(start, count, out);
      let row = Math.floor(start / rowLength);
      let rowEnd = (row + 1) * rowLength - start;
      for (let i = 0; i < count; i++) {
        if (i === rowEnd) {
          row++;
          rowEnd += rowLength;
        }
        out[i] *= scales[row];
      }
    },
  };
}

/** Part of a source, without gaps. */
export function sliceSource(source: TensorSource, from: number, length: number): TensorSource {
  return { length, read: (start, count, out) => source.read(from + start, count, out) };
}

/** Reads the whole source into memory: for biases, gates and other small parts. */
export function materialise(source: TensorSource): Float32Array {
  const values = new Float32Array(source.length);
  source.read(0, source.length, values);
  return values;
}
