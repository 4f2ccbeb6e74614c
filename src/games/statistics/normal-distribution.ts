/** The normal distribution, as far as match statistics need it. */

/** Two-sided 95 %. */
export const Z_95 = 1.959963984540054;

/**
 * P(X ≤ z) of a standard normal X, by the error function's series near 0 and its continued fraction in the tails
 * (Abramowitz and Stegun 7.1.5 and 7.1.14); accurate to about 1e-14.
 */
export function computeNormalProbability(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const tail = x < 2.5 ? (1 - erfSeries(x)) / 2 : erfcFraction(x) / 2;
  return z < 0 ? tail : 1 - tail;
}

function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

function erfcFraction(x: number): number {
  let fraction = 0;
  for (let n = 120; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}
