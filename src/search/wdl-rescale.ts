/**
 * A change of the win/draw/loss distribution (lc0: search/classic/search.cc WDLRescale); contempt.ts says which. A WDL is read as the chance that a logistic variable with location mu and width s exceeds +1 (win) or stays below -1
 * (loss); contempt moves mu, accuracy scales s. Scores for display undo the move of mu.
 */
export interface WdlRescale {
  /** Factor of the width s. */
  readonly ratio: number;
  /** Shift of mu per s², for the side that contempt favours. */
  readonly diff: number;
  readonly maxS: number;
}

/** With a probability below this, or above 1 minus this, there is no fit. */
const SMALLEST = 0.0001;

/** Output of the last `rescaleWdl` or `unscaleWdl`: no allocation per evaluation. */
export const rescaled = { wl: 0, d: 0, mu: 0 };

/**
 * What the search believes for what the network said.
 * @param sign +1 when wl and d are in the view of the favoured side, -1 otherwise
 * Writes into `rescaled`; values too extreme for a fit stay as they are and have mu 0.
 */
export function rescaleWdl(wl: number, d: number, rescale: WdlRescale, sign: number): void {
  if (!fit(wl, d)) return;
  const s = Math.min(rescale.maxS, fitted.s);
  write(fitted.mu + sign * s * s * rescale.diff, s * rescale.ratio);
}

/** The other way round, for display: lc0 moves mu back and leaves the width as it was searched. */
export function unscaleWdl(wl: number, d: number, rescale: WdlRescale, sign: number): void {
  if (!fit(wl, d)) return;
  const s = Math.min(rescale.maxS, fitted.s / rescale.ratio);
  write(fitted.mu - sign * s * s * rescale.diff, fitted.s);
}

const fitted = { mu: 0, s: 0 };

function fit(wl: number, d: number): boolean {
  rescaled.wl = wl;
  rescaled.d = d;
  rescaled.mu = 0;
  const w = (1 + wl - d) / 2;
  const l = (1 - wl - d) / 2;
  if (Math.min(w, d, l) <= SMALLEST || Math.max(w, d, l) >= 1 - SMALLEST) return false;
  const a = Math.log(1 / l - 1);
  const b = Math.log(1 / w - 1);
  fitted.mu = (a - b) / (a + b);
  fitted.s = 2 / (a + b);
  return true;
}

function write(mu: number, s: number): void {
  const w = logistic((mu - 1) / s);
  const l = logistic((-mu - 1) / s);
  rescaled.wl = w - l;
  rescaled.d = Math.max(0, 1 - w - l);
  rescaled.mu = mu;
}

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
