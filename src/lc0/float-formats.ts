/** Half precision (IEEE 754 binary16) and bfloat16 as 16-bit integers, from and to numbers. */

const float32 = new Float32Array(1);
const bits32 = new Uint32Array(float32.buffer);

export function decodeFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Round to nearest, ties to even; what is too large becomes the largest finite number, as a weight must stay a number. */
export function encodeFloat16(value: number): number {
  float32[0] = value;
  const bits = bits32[0];
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x477ff000) return Number.isNaN(value) ? 0x7e00 : sign | 0x7bff;
  if (magnitude < 0x38800000) {
    // Subnormal in binary16: its unit is 2^-24, and the division is exact, so rounding happens once.
    const scaled = Math.abs(float32[0]) * 2 ** 24;
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    return sign | (rest > 0.5 || (rest === 0.5 && floor & 1) ? floor + 1 : floor);
  }
  const rebased = magnitude - 0x38000000;
  return sign | ((rebased + 0x0fff + ((rebased >>> 13) & 1)) >>> 13);
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

/** All 65,536 binary16 values; made once, for decoding whole layers. */
export function getFloat16Table(): Float32Array {
  if (float16Table === undefined) {
    float16Table = new Float32Array(65536);
    for (let half = 0; half < 65536; half++) float16Table[half] = decodeFloat16(half);
  }
  return float16Table;
}
