/**
 * eˣ for x ≤ 0 to within 0.27 %, by lc0's formula (`FastExp2` in its utils/fastmath.h): with x·log2 e = n + f and n whole,
 * 2ⁿ · (1 + f · (0.6602339 + 0.33976606 f)). lc0 computes its priors with it, so the same error is needed to agree with
 * lc0's priors to 0.02 percentage points; with the exact function they differ by up to 0.07.
 */
const LINEAR = 0.6602339;
const QUADRATIC = 0.33976606;
/** Smaller powers of two are 0. */
const LEAST_EXPONENT = -126;

const powersOfTwo = Float64Array.from({ length: 1 - LEAST_EXPONENT }, (_, i) => 2 ** -i);

export function computeFastExp(x: number): number {
  const exponent = x * Math.LOG2E;
  if (!(exponent >= LEAST_EXPONENT)) return Number.isNaN(x) ? x : 0;
  const whole = Math.floor(exponent);
  const fraction = exponent - whole;
  return (1 + fraction * (LINEAR + QUADRATIC * fraction)) * powersOfTwo[-whole];
}
