import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  computeCollisionBudget,
  computeCpuct,
  computeDrawScore,
  computeExploration,
  computeFastLog,
  computeFastLogistic,
  computeFpu,
  computeMovesLeftUtility,
  computePolicyTemperature,
  computePuctScore,
  computeVisitsToOvertake,
  getFpuParams,
  getMovesLeftParams,
  getPuctParams,
} from '#sardonyx/search/formulas/puct.js';
import { chooseContempt, createWdlRescale, rescaled, rescaleWdl, unscaleWdl } from '#sardonyx/search/formulas/score.js';
import { createSearchParams, defaultSearchParams, searchOptions } from '#sardonyx/search/index.js';
import { parseContempt } from '#sardonyx/search/params.js';

/** The formulas round to single precision. */
const near = (a: number, b: number, tolerance = 1e-6): void => assert.ok(Math.abs(a - b) <= tolerance, `${a} and ${b}`);
const puct = getPuctParams(defaultSearchParams, false);

test('the policy temperature falls from that of the root to 1, at the root alone without a decay', () => {
  const compute = (policyTempAtRoot: number, policyTempDecay: number) =>
    [0, 1, 2].map((depth) =>
      computePolicyTemperature(depth, { ...defaultSearchParams, policyTempAtRoot, policyTempDecay }),
    );
  assert.deepEqual(compute(3, 0.5), [3, 2, 1.5]);
  assert.deepEqual(compute(3, 0), [3, 1, 1]);
  assert.deepEqual(compute(1, 0.5), [1, 1, 1]);
});

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
  const movesLeft = getMovesLeftParams(defaultSearchParams);
  assert.ok(computeMovesLeftUtility(movesLeft, 40, 30, 0.95) > 0);
  assert.ok(computeMovesLeftUtility(movesLeft, 40, 50, 0.95) < 0);
  assert.ok(computeMovesLeftUtility(movesLeft, 40, 50, -0.95) > 0);
  near(computeMovesLeftUtility(movesLeft, 40, 30, 0.5), 0);
  // The whole effect at certainty: 1.6521 - 0.6521 = 1 times the cap.
  near(computeMovesLeftUtility(movesLeft, 100, 0, 1), 0.0345);
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
