/**
 * Contempt as a change of the win/draw/loss distribution (lc0: search/classic/search.cc WDLRescale, params.cc).
 * A WDL is read as the chance that a logistic variable with location mu and width s exceeds +1 (win) or stays below -1
 * (loss); contempt moves mu, accuracy scales s. Scores for display undo the move of mu.
 */
import type { SearchParams } from './params.js';

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

/**
 * The rescale that the options ask for. A contempt that cannot be read counts as the default; `parseContempt` tells
 * whoever sets the option.
 */
export function createWdlRescale(params: SearchParams): WdlRescale {
  const contempt = clamp(computeContempt(params), -params.contemptMaxValue, params.contemptMaxValue);
  const fit = params.wdlCalibrationElo === 0 ? fitToDrawRate(params, contempt) : fitToElo(params, contempt);
  return { ...fit, maxS: params.wdlMaxS };
}

/** Entries of the option `Contempt`: `[name=]value`; null when an entry cannot be read. */
export function parseContempt(text: string): { name: string; value: number }[] | null {
  const entries: { name: string; value: number }[] = [];
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const fields = part.split('=').map((field) => field.trim());
    const valueText = fields.at(-1) ?? '';
    const value = Number(valueText);
    if (fields.length > 2 || valueText === '' || !Number.isFinite(value)) return null;
    entries.push({ name: fields.length === 2 ? (fields[0] ?? '').toLowerCase() : '', value });
  }
  return entries;
}

/** The first entry whose name is part of the opponent's, else the last without a name, else the rating advantage. */
function computeContempt(params: SearchParams): number {
  const opponent = params.uciOpponent.toLowerCase();
  let contempt = params.uciRatingAdv;
  for (const { name, value } of parseContempt(params.contempt) ?? []) {
    if (name === '') contempt = value;
    else if (opponent.includes(name)) return value;
  }
  return contempt;
}

/** The more exact model: Elo difference at a given draw rate and book bias. */
function fitToDrawRate(params: SearchParams, contempt: number): { ratio: number; diff: number } {
  const toScale = (drawRate: number): number => 1 / Math.log((1 + drawRate) / (1 - drawRate));
  const target = params.wdlDrawRateTarget;
  const referenceScale = toScale(params.wdlDrawRateReference);
  const targetScale = target === 0 ? referenceScale : toScale(Math.max(0.001, target));
  const bias = params.wdlBookExitBias;
  const slope =
    1 / Math.cosh((0.5 * (1 - bias)) / targetScale) ** 2 + 1 / Math.cosh((0.5 * (1 + bias)) / targetScale) ** 2;
  const perElo = targetScale / referenceScale ** 2 / slope;
  return {
    ratio: targetScale / referenceScale,
    diff: ((perElo * Math.LN10) / 200) * contempt * params.wdlContemptAttenuation,
  };
}

/** The simpler model: draw rate and accuracy follow from the Elo of both sides. Constants fitted by lc0. */
function fitToElo(params: SearchParams, contempt: number): { ratio: number; diff: number } {
  const scaleZero = 15;
  const eloSlope = 425;
  const offset = 6.75;
  const toGamePairElo = (elo: number): number => elo + 0.5 * 250 * Math.log(1 + Math.exp((2737 - elo) / 250));
  const toScale = (elo: number): number => 1 / (1 / scaleZero + Math.exp(elo / eloSlope - offset));
  const toMu = (elo: number): number =>
    (-Math.LN10 / 200) * scaleZero * eloSlope * Math.log(1 + Math.exp(-elo / eloSlope + offset) / scaleZero);
  const reference = params.wdlDrawRateReference;
  const referenceScale = 1 / Math.log((1 + reference) / (1 - reference));
  const own = toGamePairElo(params.wdlCalibrationElo);
  const opponent = toGamePairElo(params.wdlCalibrationElo - contempt);
  const targetScale = Math.sqrt((toScale(own) ** 2 + toScale(opponent) ** 2) / 2);
  return {
    ratio: targetScale / referenceScale,
    diff: ((toMu(own) - toMu(opponent)) / referenceScale ** 2) * params.wdlContemptAttenuation,
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
