/**
 * lc0's approximations of the logarithm and the logistic function (utils/fastmath.h), in float32 as in lc0. Their errors are
 * below 0.007 and 0.001. They are used where lc0 uses them: in cpuct, and wherever a WDL is fitted.
 */
const { fround } = Math;
const LN_2 = fround(Math.LN2);
const LOG2_E = fround(Math.LOG2E);
/** log2(1 + f) ≈ f · (LOG_LINEAR − LOG_QUADRATIC · f). */
const LOG_LINEAR = fround(1.3465552);
const LOG_QUADRATIC = fround(0.34655523);
/** 2^f ≈ 1 + f · (POWER_LINEAR + POWER_QUADRATIC · f). */
const POWER_LINEAR = fround(0.6602339);
const POWER_QUADRATIC = fround(0.33976606);
/** Beyond ±20 the result is 0 or 1. */
const LOGISTIC_LIMIT = 20;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** @param x > 0 */
export function computeFastLog(x: number): number {
  float[0] = x;
  const exponent = bits[0] >>> 23;
  bits[0] = (bits[0] & 0x7fffff) | (127 << 23);
  const fraction = fround(float[0] - 1);
  const slope = fround(LOG_LINEAR - LOG_QUADRATIC * fraction);
  return fround(LN_2 * fround(fround(fraction * slope - 127) + exponent));
}

export function computeFastLogistic(x: number): number {
  if (Math.abs(x) > LOGISTIC_LIMIT) return x > 0 ? 1 : 0;
  const exponent = fround(LOG2_E * -x);
  // For negative whole numbers this is one too low, which is harmless: then f = 1, where the approximation of 2^f is exact.
  const whole = Math.trunc(exponent < 0 ? fround(exponent - 1) : exponent);
  const fraction = fround(exponent - whole);
  const power = fround(1 + fround(fraction * fround(POWER_LINEAR + fround(POWER_QUADRATIC * fraction))));
  return fround(1 / fround(1 + power * 2 ** whole));
}
