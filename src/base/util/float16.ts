/**
 * Converts numbers to and from 16-bit formats in integers, because Node 20 has no Float16Array: half precision (IEEE 754 binary16),
 * and bfloat16, which has the exponent of a single.
 */

/** Codes for numbers that are too large, without the sign. */
export const FLOAT16_INFINITY = 0x7c00;
/** 65504. */
export const FLOAT16_LARGEST = 0x7bff;

const float32 = new Float32Array(1);
const bits32 = new Uint32Array(float32.buffer);

/**
 * Rounds to the nearest half, ties to even.
 * @param overflow the code for numbers from 65520 on: FLOAT16_INFINITY, as in IEEE 754, or FLOAT16_LARGEST for weights of
 *   networks, which must stay finite (infinity itself is replaced too)
 */
export function encodeFloat16(value: number, overflow: number): number {
  float32[0] = value;
  const bits = bits32[0];
  // Most inputs of networks are 0 or 1.
  if (bits === 0) return 0;
  if (bits === 0x3f800000) return 0x3c00;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | overflow;
  if (magnitude < 0x38800000) {
    // The result is subnormal, a multiple of 2^-24. Floats in [0.5, 1) have the same spacing, so adding 0.5 rounds to it.
    float32[0] = Math.abs(float32[0]) + 0.5;
    return sign | (bits32[0] - 0x3f000000);
  }
  const isOdd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + isOdd) >>> 13);
}

export function decodeFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

let table: Float32Array | undefined;

/** All 65,536 halves, decoded once, for decoding whole layers. */
export function getFloat16Table(): Float32Array {
  table ??= Float32Array.from({ length: 65536 }, (_, half) => decodeFloat16(half));
  return table;
}

/** Round to nearest, ties to even. */
export function encodeBfloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  float32[0] = value;
  const bits = bits32[0];
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
