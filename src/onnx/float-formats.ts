/** The 16-bit formats of stored weights: bfloat16, and half precision (util) with the rounding that weights need. */
import { decodeFloat16, encodeFloat16, FLOAT16_LARGEST } from '../util/index.js';

const float32 = new Float32Array(1);
const bits32 = new Uint32Array(float32.buffer);

/** Half precision. Values that are too large become the largest finite one, because a weight must stay a number. */
export function encodeHalfWeight(value: number): number {
  return encodeFloat16(value, FLOAT16_LARGEST);
}

export function decodeBfloat16(brain: number): number {
  bits32[0] = brain << 16;
  return float32[0];
}

/** Round to nearest, ties to even. */
export function encodeBfloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  float32[0] = value;
  const bits = bits32[0];
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

let float16Table: Float32Array | undefined;

/** All 65,536 binary16 values, created once, for decoding whole layers. */
export function getFloat16Table(): Float32Array {
  if (float16Table === undefined) {
    float16Table = new Float32Array(65536);
    for (let half = 0; half < 65536; half++) float16Table[half] = decodeFloat16(half);
  }
  return float16Table;
}
