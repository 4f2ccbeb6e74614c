import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { chooseContempt, createWdlRescale } from '#sardonyx/search/formulas/contempt.js';
import {
  computeCollisionBudget,
  computeCpuct,
  computeDrawScore,
  computeExploration,
  computeFastLog,
  computeFastLogistic,
  computeFpu,
  computeMovesLeftUtility,
  computePuctScore,
  computeVisitsToOvertake,
  getFpuParams,
  getPuctParams,
} from '#sardonyx/search/formulas/puct.js';
import { rescaled, rescaleWdl, unscaleWdl } from '#sardonyx/search/formulas/wdl-rescale.js';
import {
  computeScore,
  computeWdl,
  createSearchParams,
  defaultSearchParams,
  searchOptions,
} from '#sardonyx/search/index.js';
import { SCORE_TYPES } from '#sardonyx/search/options.js';
import { parseContempt } from '#sardonyx/search/protocol/params.js';

/** The formulas round to single precision. */
const near = (a: number, b: number, tolerance = 1e-6): void => assert.ok(Math.abs(a - b) <= tolerance, `${a} and ${b}`);
const puct = getPuctParams(defaultSearchParams, false);

test('cpuct grows with the logarithm of the visits', () => {
  near(computeCpuct(0, puct), 1.745);
  near(computeCpuct(38739, puct), 1.745 + 3.894 * Math.LN2, 1e-6);
  // By lc0's approximation; the exact logarithm gives 0.02044.
  near(computeCpuct(800, puct), 1.745 + 3.894 * 0.01917006, 1e-6);
  near(computeCpuct(800, { ...puct, factor: 0 }), 1.745);
});

test('U of an unvisited move is what lc0 printed for the same prior and visits', () => {
  // info string g6e4 … N: 0 … (P: 1.39%) … (Q: -0.30801) (U: 0.13319) (S: -0.17482), node N: 31
  const exploration = computeExploration(31, puct);
  near(computePuctScore(0.01391, exploration, 0, -0.30801), -0.17482, 2e-4);
});

test('a node visited once explores as if it had one child visit', () => {
  near(computeExploration(1, puct), computeCpuct(1, puct));
  near(computeExploration(10, puct), 3 * computeCpuct(10, puct));
});

test('first play urgency is the own value less the reduction, or a constant', () => {
  const reduction = getFpuParams(defaultSearchParams, false);
  near(computeFpu(reduction, 0.4, 0.2, 0, 0.25), -0.4 - 0.33 * 0.5);
  near(computeFpu(reduction, 0.4, 0.2, 0.5, 0.25), -0.4 + 0.1 - 0.33 * 0.5);
  near(computeFpu({ absolute: true, value: -0.7 }, 0.4, 0.2, 0, 0.25), -0.7);
});

test('root parameters apply only when asked for', () => {
  const own = { ...defaultSearchParams, cpuctAtRoot: 3, fpuValueAtRoot: 0.5 };
  assert.equal(getPuctParams(own, true).init, 1.745);
  assert.equal(getPuctParams({ ...own, rootHasOwnCpuctParams: true }, true).init, 3);
  assert.equal(getPuctParams({ ...own, rootHasOwnCpuctParams: true }, false).init, 1.745);
  assert.deepEqual(getFpuParams(own, true), { absolute: false, value: 0.33 });
  assert.deepEqual(getFpuParams({ ...own, fpuStrategyAtRoot: 'absolute' }, true), { absolute: true, value: 0.5 });
});

test('the visits to overtake are exact: one fewer leaves the best move ahead', () => {
  for (const [prior, started, utility, second] of [
    [0.4, 3, 0.1, 0.25],
    [0.05, 0, -0.2, -0.15],
    [0.9, 100, 0.3, 0.31],
  ]) {
    const exploration = computeExploration(500, puct);
    const visits = computeVisitsToOvertake(prior, exploration, started, utility, second);
    assert.ok(computePuctScore(prior, exploration, started + visits - 1, utility) >= second);
    assert.ok(computePuctScore(prior, exploration, started + visits + 1, utility) <= second);
  }
  assert.equal(computeVisitsToOvertake(0.1, 1, 0, 0.5, 0.4), 1e9);
  assert.equal(computeVisitsToOvertake(0.1, 1, 5, 0, 1), 1);
});

test('a won game prefers the shorter way, a lost one the longer', () => {
  assert.ok(computeMovesLeftUtility(defaultSearchParams, 40, 30, 0.95) > 0);
  assert.ok(computeMovesLeftUtility(defaultSearchParams, 40, 50, 0.95) < 0);
  assert.ok(computeMovesLeftUtility(defaultSearchParams, 40, 50, -0.95) > 0);
  near(computeMovesLeftUtility(defaultSearchParams, 40, 30, 0.5), 0);
  // The whole effect at certainty: 1.6521 - 0.6521 = 1 times the cap.
  near(computeMovesLeftUtility(defaultSearchParams, 100, 0, 1), 0.0345);
});

test('the collision budget grows from 1 to all', () => {
  assert.equal(computeCollisionBudget(28, defaultSearchParams), 1);
  assert.equal(computeCollisionBudget(145000, defaultSearchParams), 80000);
  assert.equal(computeCollisionBudget(1000, defaultSearchParams), Math.round(1 + 79999 * (972 / 144972) ** 1.25));
  assert.equal(computeCollisionBudget(5, { ...defaultSearchParams, maxCollisionVisitsScalingEnd: 0 }), 80000);
});

test('a draw is worth the draw score to White and its negative to Black', () => {
  near(computeDrawScore(0.2, false, false), 0.2);
  near(computeDrawScore(0.2, false, true), -0.2);
  near(computeDrawScore(0.2, true, false), -0.2);
  near(computeDrawScore(0.2, true, true), 0.2);
});

test('without contempt the WDL stays as it is but for the errors of the fit', () => {
  const rescale = createWdlRescale(defaultSearchParams);
  near(rescale.ratio, 1);
  near(rescale.diff, 0);
  for (let wl = -0.98; wl < 1; wl += 0.02) {
    for (let d = 0.001; d < 1 - Math.abs(wl); d += 0.02) {
      unscaleWdl(wl, d, rescale, 1);
      near(rescaled.wl, wl, 0.005);
      near(rescaled.d, d, 0.005);
    }
  }
});

test('logarithm and logistic function are near the true ones', () => {
  for (let x = 1e-4; x < 1e4; x *= 1.01) near(computeFastLog(x), Math.log(x), 0.007);
  for (let x = -25; x < 25; x += 0.01) near(computeFastLogistic(x), 1 / (1 + Math.exp(-x)), 0.001);
});

test('contempt raises the value of the favoured side and display takes it back', () => {
  const rescale = createWdlRescale({ ...defaultSearchParams, contempt: '200' });
  rescaleWdl(0.1, 0.5, rescale, 1);
  const { wl, d } = rescaled;
  assert.ok(wl > 0.1);
  unscaleWdl(wl, d, rescale, 1);
  near(rescaled.wl, 0.1, 0.005);
  rescaleWdl(0.1, 0.5, rescale, -1);
  assert.ok(rescaled.wl < 0.1);
  rescaleWdl(0.99999, 0.00001, rescale, 1);
  assert.deepEqual(rescaled, { wl: 0.99999, d: 0.00001, mu: 0 });
});

test('a target draw rate sharpens or softens', () => {
  const drawish = createWdlRescale({ ...defaultSearchParams, wdlDrawRateTarget: 0.8 });
  rescaleWdl(0, 0.5, drawish, 1);
  near(rescaled.d, 0.8, 0.005);
  const weak = createWdlRescale({ ...defaultSearchParams, wdlCalibrationElo: 1500 });
  rescaleWdl(0, 0.5, weak, 1);
  assert.ok(rescaled.d < 0.5);
});

test('contempt is chosen by the name of the opponent', () => {
  const params = { ...defaultSearchParams, uciRatingAdv: 30, contempt: '50,Stockfish=-100,bot=20' };
  const diff = (uciOpponent: string, contempt = params.contempt): number =>
    Math.sign(createWdlRescale({ ...params, uciOpponent, contempt }).diff);
  assert.equal(diff('none 3500 computer Stockfish 17'), -1);
  assert.equal(diff('human'), 1);
  assert.deepEqual(parseContempt('a=1, -5'), [
    { name: 'a', value: 1 },
    { name: '', value: -5 },
  ]);
  assert.equal(parseContempt('a=b'), null);
  assert.equal(parseContempt('a=1=2'), null);
});

test('contempt favours the player, in analysis the chosen side, while pondering the other one', () => {
  const params = { ...defaultSearchParams, contempt: '100' };
  const rescale = createWdlRescale(params);
  const limits = { startedAtMs: 0 };
  assert.equal(chooseContempt(rescale, params, limits, true).sign, 1);
  assert.equal(chooseContempt(rescale, params, { ...limits, ponder: true }, true).sign, -1);
  const white = { ...params, contemptMode: 'white_side_analysis' } as const;
  assert.equal(chooseContempt(rescale, white, { ...limits, infinite: true }, true).sign, -1);
  assert.equal(chooseContempt(rescale, white, { ...limits, infinite: true }, false).sign, 1);
  const ignored = chooseContempt(rescale, params, { ...limits, infinite: true }, false);
  assert.equal(ignored.isIgnored, true);
  assert.equal(ignored.rescale, null);
  assert.equal(ignored.shown.diff, 0);
});

test('options have unique names and flags, and defaults in their ranges', () => {
  const names = searchOptions.map(({ uci }) => uci.toLowerCase());
  const flags = searchOptions.map(({ flag }) => flag).filter((flag) => flag !== '');
  assert.equal(new Set(names).size, names.length);
  assert.equal(new Set(flags).size, flags.length);
  for (const spec of searchOptions) {
    if (spec.kind === 'float' || spec.kind === 'int') assert.ok(spec.default >= spec.min && spec.default <= spec.max);
  }
});

test('parameters come from values by UCI name', () => {
  const params = createSearchParams(
    new Map<string, number | boolean | string>([
      ['CPuct', 2.5],
      ['NNCacheSize', 7],
      ['TwoFoldDraws', false],
    ]),
  );
  assert.deepEqual(params, { ...defaultSearchParams, cpuct: 2.5, twoFoldDraws: false });
});

const EVEN = { wl: 0, d: 0.5, q: 0, mu: 0 };

test('an even position scores 0 on every scale that is centred on 0', () => {
  for (const type of SCORE_TYPES) assert.equal(computeScore(type, EVEN), type === 'win_percentage' ? 5000 : 0, type);
});

test('the scores of a clear advantage are those of the formulas', () => {
  const input = { wl: 0.5, d: 0.3, q: 0.4, mu: 0.9 };
  assert.equal(computeScore('centipawn', input), Math.trunc(90 * Math.tan(1.5637541897 * 0.5)));
  assert.equal(computeScore('centipawn', input), 89);
  assert.equal(computeScore('centipawn_with_drawscore', input), Math.trunc(90 * Math.tan(1.5637541897 * 0.4)));
  assert.equal(computeScore('centipawn_2019', input), Math.trunc((295 * 0.5) / (1 - 0.976953126 * 0.5 ** 14)));
  assert.equal(computeScore('centipawn_2018', input), Math.trunc(290.680623072 * Math.tan(1.548090806 * 0.5)));
  assert.equal(computeScore('win_percentage', input), 7500);
  assert.equal(computeScore('Q', input), 4000);
  assert.equal(computeScore('W-L', input), 5000);
  assert.equal(computeScore('WDL_mu', input), 90);
});

test('the old Leela scale gives the table of the Leela explanation', () => {
  const table: [winRate: number, pawns: number][] = [
    [0.55, 0.18],
    [0.6, 0.36],
    [0.65, 0.57],
    [0.7, 0.81],
    [0.75, 1.11],
    [0.8, 1.52],
    [0.85, 2.16],
    [0.9, 3.36],
    [0.95, 6.71],
    [1, 128],
  ];
  for (const [winRate, pawns] of table) {
    const q = 2 * winRate - 1;
    const score = computeScore('centipawn_leela', { ...EVEN, q });
    assert.ok(Math.abs(score - 100 * pawns) <= 1.01, `${winRate}: ${score}`);
  }
});

test('WDL_mu falls back to a tangent when the fit is missing or out of range', () => {
  const tangent = Math.trunc(45 * Math.tan(1.56728071628 * 0.9));
  assert.equal(computeScore('WDL_mu', { wl: 0.9, d: 0.05, q: 0.9, mu: 0 }), tangent);
  assert.equal(computeScore('WDL_mu', { wl: 0.9, d: 0.0999, q: 0.9, mu: 2 }), tangent);
  // Beyond one pawn the larger of the two wins.
  assert.equal(computeScore('WDL_mu', { wl: 0.9, d: 0.05, q: 0.9, mu: 1.5 }), tangent);
  assert.equal(computeScore('WDL_mu', { wl: 0.9, d: 0.05, q: 0.9, mu: 4 }), 400);
});

test('scores are whole, bounded and never minus zero', () => {
  for (const type of SCORE_TYPES) {
    for (const wl of [-1, -0.0001, 0, 0.0001, 1, Number.NaN]) {
      const score = computeScore(type, { wl, d: 0, q: wl, mu: 0 });
      assert.ok(
        Number.isInteger(score) && !Object.is(score, -0) && Math.abs(score) <= 100000,
        `${type} ${wl}: ${score}`,
      );
    }
  }
});

test('win, draw and loss always add up to a thousand and follow the values', () => {
  assert.deepEqual(computeWdl(0.2, 0.4), { win: 400, draw: 400, loss: 200 });
  assert.deepEqual(computeWdl(1, 0), { win: 1000, draw: 0, loss: 0 });
  assert.deepEqual(computeWdl(-1, 0), { win: 0, draw: 0, loss: 1000 });
  const prng = createPrng(7);
  for (let i = 0; i < 2000; i++) {
    const d = prng.nextFloat() * 1.02;
    const wl = (prng.nextFloat() * 2 - 1) * (1.02 - d);
    const { win, draw, loss } = computeWdl(wl, d);
    assert.equal(win + draw + loss, 1000);
    assert.ok(Math.min(win, draw, loss) >= 0, `${wl} ${d}`);
  }
});
