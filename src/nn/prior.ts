/**
 * Priors as 16-bit floats: 5 exponent and 11 mantissa bits, the exponent rebased so that 1.0 is the largest code.
 * The format is lc0's (Edge::SetP): the bits of a float32 below 2^-31 or so become 0, everything else keeps 12
 * significant bits. Codes order as the priors do, so lists are sorted by code.
 */
const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

const EXPONENT_BASE = 0x30000000;
const ROUNDING = 1 << 11;

/** @param prior a probability in [0, 1]; the nearest code, ties upward. */
export function encodePrior(prior: number): number {
  float[0] = prior;
  const rebased = bits[0] + ROUNDING - EXPONENT_BASE;
  return rebased < 0 ? 0 : rebased >> 12;
}

/** The probability a code stands for. Code 0 gives 2^-31, not 0, as in lc0. */
export function decodePrior(code: number): number {
  bits[0] = (code << 12) | EXPONENT_BASE;
  return float[0];
}
