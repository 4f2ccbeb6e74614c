/**
 * Changes win, draw and loss probabilities (lc0: search/classic/search.cc, WDLRescale); contempt says by how much. The
 * model: a logistic variable with location mu and width s exceeds +1 with the probability of a win and stays below −1 with
 * that of a loss. Contempt moves mu, accuracy scales s. For display the move of mu is undone.
 *
 * It computes in float32 with lc0's approximate functions (puct.ts), so that the third digit agrees with lc0. The
 * approximation alone, with nothing to change, moves wl and d by up to 0.004.
 */
import { computeFastLog, computeFastLogistic } from './puct.js';

export interface WdlRescale {
  /** Factor of the width s. */
  readonly ratio: number;
  /** Shift of mu per s², for the side that contempt favours. */
  readonly diff: number;
  readonly maxS: number;
}

/** Probabilities below this, or above 1 minus this, are too extreme for a fit. */
const SMALLEST = 0.0001;
const { fround } = Math;

/** The result of the last `rescaleWdl` or `unscaleWdl`; one object, so that an evaluation allocates nothing. */
export const rescaled = { wl: 0, d: 0, mu: 0 };

/**
 * Applies contempt and accuracy to an evaluation of the network. Writes into `rescaled`; values too extreme for a fit stay as
 * they are and get mu 0.
 * @param sign +1 when wl and d are in the view of the favoured side, -1 otherwise
 */
export function rescaleWdl(wl: number, d: number, rescale: WdlRescale, sign: number): void {
  if (!fit(wl, d)) return;
  const s = Math.min(rescale.maxS, fitted.s);
  write(fround(fitted.mu + sign * s * s * rescale.diff), fround(s * rescale.ratio));
}

/** The inverse, for display. As in lc0 it moves mu back and leaves the width as it was searched. */
export function unscaleWdl(wl: number, d: number, rescale: WdlRescale, sign: number): void {
  if (!fit(wl, d)) return;
  const s = Math.min(rescale.maxS, fitted.s / rescale.ratio);
  write(fround(fitted.mu - sign * s * s * rescale.diff), fitted.s);
}

const fitted = { mu: 0, s: 0 };

export function fit(wl: number, d: number): boolean {
  rescaled.wl = wl;
  rescaled.d = d;
  rescaled.mu = 0;
  const ahead = fround(wl);
  const drawn = fround(d);
  const w = fround(fround(1 + ahead) - drawn) / 2;
  const l = fround(fround(1 - ahead) - drawn) / 2;
  if (Math.min(w, d, l) <= SMALLEST || Math.max(w, d, l) >= 1 - SMALLEST) return false;
  const a = computeFastLog(fround(fround(1 / l) - 1));
  const b = computeFastLog(fround(fround(1 / w) - 1));
  const sum = fround(a + b);
  // The exact sum is positive. The approximated one may not be where draws are almost impossible.
  if (sum <= 0) return false;
  fitted.mu = fround(fround(a - b) / sum);
  fitted.s = fround(2 / sum);
  return true;
}

function write(mu: number, s: number): void {
  const w = computeFastLogistic(fround(fround(mu - 1) / s));
  const l = computeFastLogistic(fround(fround(-mu - 1) / s));
  rescaled.wl = fround(w - l);
  rescaled.d = Math.max(0, fround(fround(1 - w) - l));
  rescaled.mu = mu;
}
