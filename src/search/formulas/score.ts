import { parseContempt, type SearchParams } from '../params.js';
import type { SearchLimits } from '../search-protocol.js';
import { computeFastLog, computeFastLogistic } from './puct.js';

/**
 * Formulas that turn search values into the scores of info lines. Sources: lc0's search/classic/search.cc (SendUciInfo) and,
 * for `centipawn_leela`, the Leela explanation of 2018.
 *
 * Legend: wl = win minus loss in [−1, 1]; d = draw probability; q = wl + drawScore·d; mu = location of the WDL fit.
 * All are from the view of the side to move at the root, and so is the result. Results are truncated to whole numbers, as
 * lc0's conversion to int does.
 */
export const SCORE_TYPES = [
  'centipawn',
  'centipawn_with_drawscore',
  'centipawn_2019',
  'centipawn_2018',
  'win_percentage',
  'Q',
  'W-L',
  'WDL_mu',
  'centipawn_leela',
] as const;

export type ScoreType = (typeof SCORE_TYPES)[number];

export interface ScoreInput {
  readonly wl: number;
  readonly d: number;
  readonly q: number;
  readonly mu: number;
}

/** Above this |wl| + d the location of the fit is meaningless. */
const MU_LIMIT = 0.996;
/** Limit of the score, because a tangent has poles. */
const MAX_SCORE = 100000;

export function computeScore(type: ScoreType, input: ScoreInput): number {
  const score = Math.trunc(computeRawScore(type, input));
  // `|| 0` turns −0 into 0, and NaN (from an invalid value) into a harmless score.
  return Math.max(-MAX_SCORE, Math.min(MAX_SCORE, score)) || 0;
}

function computeRawScore(type: ScoreType, { wl, d, q, mu }: ScoreInput): number {
  switch (type) {
    case 'centipawn':
      return 90 * Math.tan(1.5637541897 * wl);
    case 'centipawn_with_drawscore':
      return 90 * Math.tan(1.5637541897 * q);
    case 'centipawn_2019':
      return (295 * wl) / (1 - 0.976953126 * wl ** 14);
    case 'centipawn_2018':
      return 290.680623072 * Math.tan(1.548090806 * wl);
    case 'win_percentage':
      return 5000 * wl + 5000;
    case 'Q':
      return 10000 * q;
    case 'W-L':
      return 10000 * wl;
    case 'centipawn_leela':
      return 111.714640912 * Math.tan(1.5620688421 * q);
    case 'WDL_mu': {
      const centipawns = 45 * Math.tan(1.56728071628 * wl);
      const usesMu =
        mu !== 0 && Math.abs(wl) + d < MU_LIMIT && (Math.abs(mu) < 1 || Math.abs(centipawns) < Math.abs(100 * mu));
      return usesMu ? 100 * mu : centipawns;
    }
  }
}

export interface Wdl {
  readonly win: number;
  readonly draw: number;
  readonly loss: number;
}

/** As the lists of JSON answers have it. */
export function listWdl({ win, draw, loss }: Wdl): readonly [win: number, draw: number, loss: number] {
  return [win, draw, loss];
}

/** Per mille; the three numbers sum to 1000. */
export function computeWdl(wl: number, d: number): Wdl {
  let win = clampPerMille(500 * (1 + wl - d));
  let loss = clampPerMille(500 * (1 - wl - d));
  const draw = 1000 - win - loss;
  if (draw >= 0) return { win, draw, loss };
  win = Math.min(1000, Math.max(0, win + Math.trunc(draw / 2)));
  loss = 1000 - win;
  return { win, draw: 0, loss };
}

function clampPerMille(value: number): number {
  return Math.min(1000, Math.max(0, Math.round(value))) || 0;
}

// Changes win, draw and loss probabilities (lc0: search/classic/search.cc, WDLRescale); contempt says by how much. The
// model: a logistic variable with location mu and width s exceeds +1 with the probability of a win and stays below −1 with
// that of a loss. Contempt moves mu, accuracy scales s. For display the move of mu is undone.
//
// It computes in float32 with lc0's approximate functions (puct.ts), so that the third digit agrees with lc0. The
// approximation alone, with nothing to change, moves wl and d by up to 0.004.

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

function fit(wl: number, d: number): boolean {
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

// Contempt (lc0: search/classic/params.cc): computes from the options how win, draw and loss probabilities are changed, and
// in whose favour.

/** The rescale that the options ask for. An invalid Contempt, which `checkContempt` refuses, counts as the default. */
export function createWdlRescale(params: SearchParams): WdlRescale {
  const contempt = clamp(computeContempt(params), -params.contemptMaxValue, params.contemptMaxValue);
  const fit = params.wdlCalibrationElo === 0 ? fitToDrawRate(params, contempt) : fitToElo(params, contempt);
  return { ...fit, maxS: params.wdlMaxS };
}

/** The first entry whose name occurs in the opponent's name, else the last entry without a name, else UCI_RatingAdv. */
function computeContempt(params: SearchParams): number {
  const opponent = params.uciOpponent.toLowerCase();
  let contempt = params.uciRatingAdv;
  for (const { name, value } of parseContempt(params.contempt) ?? []) {
    if (name === '') contempt = value;
    else if (opponent.includes(name)) return value;
  }
  return contempt;
}

/** lc0's more accurate model: Elo difference at a given draw rate and book exit bias. */
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

/** lc0's simpler model: draw rate and accuracy follow from the Elo of both sides. The constants are lc0's. */
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

export interface Contempt {
  /** Applied to evaluations; null when it changes nothing. */
  readonly rescale: WdlRescale | null;
  /** The inverse is applied to values that are shown. */
  readonly shown: WdlRescale;
  /** +1 when it favours the root's mover. */
  readonly sign: number;
  /** ContemptMode `play` was ignored because the search is infinite; the user gets a warning. */
  readonly isIgnored: boolean;
}

/** Describes what the values in a tree depend on, besides the network: a tree made with another description is of no use. */
export function describeValues({ rescale, sign }: Contempt, params: SearchParams, blackToMove: boolean): string {
  const { twoFoldDraws, stickyEndgames, mateInOne } = params;
  const favoured = rescale === null || rescale.diff === 0 ? null : blackToMove === sign > 0;
  return JSON.stringify([rescale, favoured, twoFoldDraws, stickyEndgames, mateInOne]);
}

/** The contempt of one search. In a ponder search the engine plays the side that is not to move at the root. */
export function chooseContempt(
  rescale: WdlRescale,
  params: SearchParams,
  limits: SearchLimits,
  blackToMove: boolean,
): Contempt {
  const isPlay = params.contemptMode === 'play';
  const isIgnored = isPlay && limits.infinite === true && rescale.diff !== 0;
  const isOff = params.contemptMode === 'disable' || (isPlay && limits.infinite === true);
  const favoursBlack = isPlay
    ? blackToMove !== (limits.ponder === true)
    : params.contemptMode === 'black_side_analysis';
  const diff = isOff ? 0 : rescale.diff;
  return {
    rescale: rescale.ratio === 1 && diff === 0 ? null : { ...rescale, diff },
    shown: { ...rescale, diff: diff * params.wdlEvalObjectivity },
    sign: favoursBlack === blackToMove ? 1 : -1,
    isIgnored,
  };
}
