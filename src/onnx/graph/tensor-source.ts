/**
 * Weights that are decoded in chunks while they are written into the ONNX file, and never held in memory as a whole; otherwise
 * a 100 MB network would exist three times. Sources wrap each other (decode, scale, concatenate).
 */
export interface TensorSource {
  /** Number of elements. */
  readonly length: number;
  /** Writes elements start … start+count−1 to out[0 … count−1]. */
  read(start: number, count: number, out: Float32Array): void;
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
