/**
 * Contempt (lc0: search/classic/params.cc): computes from the options how win, draw and loss probabilities are changed, and in
 * whose favour.
 */

import { parseContempt, type SearchParams } from '../protocol/params.js';
import type { SearchLimits } from '../protocol/search-protocol.js';
import type { WdlRescale } from './wdl-rescale.js';

/** The rescale that the options ask for. An invalid Contempt, which `checkContempt` refuses, counts as the default. */
export function createWdlRescale(params: SearchParams): WdlRescale {
  const most = params.contemptMaxValue;
  const contempt = Math.min(most, Math.max(-most, computeContempt(params)));
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

/** Width of the WDL distribution at which equal positions have this draw rate. */
function computeScaleOfDraws(drawRate: number): number {
  return 1 / Math.log((1 + drawRate) / (1 - drawRate));
}

/** lc0's more accurate model: Elo difference at a given draw rate and book exit bias. */
function fitToDrawRate(params: SearchParams, contempt: number): { ratio: number; diff: number } {
  const target = params.wdlDrawRateTarget;
  const referenceScale = computeScaleOfDraws(params.wdlDrawRateReference);
  const targetScale = target === 0 ? referenceScale : computeScaleOfDraws(Math.max(0.001, target));
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
  const referenceScale = computeScaleOfDraws(params.wdlDrawRateReference);
  const own = toGamePairElo(params.wdlCalibrationElo);
  const opponent = toGamePairElo(params.wdlCalibrationElo - contempt);
  const targetScale = Math.sqrt((toScale(own) ** 2 + toScale(opponent) ** 2) / 2);
  return {
    ratio: targetScale / referenceScale,
    diff: ((toMu(own) - toMu(opponent)) / referenceScale ** 2) * params.wdlContemptAttenuation,
  };
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
  const { twoFoldDraws, stickyEndgames } = params;
  const favoured = rescale === null || rescale.diff === 0 ? null : blackToMove === sign > 0;
  return JSON.stringify([rescale, favoured, twoFoldDraws, stickyEndgames]);
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
