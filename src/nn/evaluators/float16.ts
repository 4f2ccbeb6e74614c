/** IEEE half precision, for networks whose tensors are float16: Node 20 has no Float16Array. */
const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The nearest half, ties to even; too large a number becomes infinity. */
export function encodeHalf(value: number): number {
  if (value === 0) return 0;
  if (value === 1) return 0x3c00;
  float[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const magnitude = bits[0] & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Subnormal: let the float adder round at 2^-24.
    float[0] = Math.abs(value) + 0.5;
    return sign | (bits[0] - 0x3f000000);
  }
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + odd) >>> 13);
}

export function decodeHalf(half: number): number {
  const exponent = (half >>> 10) & 31;
  const mantissa = half & 0x3ff;
  const sign = half >= 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
