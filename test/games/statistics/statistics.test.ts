/** Expected figures are the published cases of fastchess 1.8 (elo_test, sprt_test), which follow fishtest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeElo, computeExpectedScore, estimateElo } from '#sardonyx/games/statistics/elo.js';
import { computeNormalProbability } from '#sardonyx/games/statistics/normal-distribution.js';
import { distributeGames, distributePairs, type PairCounts } from '#sardonyx/games/statistics/scores.js';
import { computeLlr, computeSprt, type SprtModel } from '#sardonyx/games/statistics/sprt.js';

function assertNear(actual: number | undefined, expected: number, tolerance: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= tolerance, `${actual} is not near ${expected}`);
}

const games = (wins: number, losses: number, draws: number) => distributeGames({ wins, draws, losses });
/** In fastchess's order: LL, LD, WL, DD, WD, WW. */
const pairs = (ll: number, ld: number, wl: number, dd: number, wd: number, ww: number) =>
  distributePairs([ll, ld, wl + dd, wd, ww] as PairCounts);

test('the normal distribution agrees with tables, in the middle and in the tails', () => {
  assertNear(computeNormalProbability(0), 0.5, 1e-15);
  assertNear(computeNormalProbability(1), 0.841344746068543, 1e-13);
  assertNear(computeNormalProbability(-1.959963984540054), 0.025, 1e-13);
  assertNear(computeNormalProbability(-6) / 9.865876450377e-10, 1, 1e-9);
});

test('Elo and expected score are inverse to each other', () => {
  for (const elo of [-700, -5, 0, 12.5, 400]) assertNear(computeElo(computeExpectedScore(elo)), elo, 1e-9);
  assert.equal(computeElo(1), Number.POSITIVE_INFINITY);
});

test('Elo of single games agrees with fastchess', () => {
  const first = estimateElo(games(76, 89, 123));
  assertNear(first?.normalisedElo, -20.76, 0.01);
  assertNear(first?.normalisedEloError, 40.13, 0.01);
  assertNear(first?.los, 0.1553, 0.00005);
  const second = estimateElo(games(136, 96, 111));
  assertNear(second?.elo, 40.7, 0.01);
  assertNear(second?.eloError, 30.43, 0.01);
  assertNear(second?.normalisedElo, 49.77, 0.01);
  assertNear(second?.los, 0.996, 0.00005);
});

test('Elo of pairs agrees with fastchess', () => {
  const first = estimateElo(pairs(34, 54, 31, 32, 64, 75));
  assertNear(first?.elo, 55.58, 0.01);
  assertNear(first?.eloError, 27.65, 0.01);
  assertNear(first?.normalisedElo, 57.94, 0.01);
  const second = estimateElo(pairs(332, 433, 457, 41, 333, 334));
  assertNear(second?.elo, -8.64, 0.01);
  assertNear(second?.normalisedEloError, 10.96, 0.01);
  assertNear(second?.los, 0.0505, 0.00005);
});

test('a sequential test of far apart hypotheses is a number, and counts what was won', () => {
  for (const model of ['normalized', 'logistic'] as const) {
    for (const elo1 of [230, 240, 400, 800]) {
      const settings = { elo0: 0, elo1, alpha: 0.05, beta: 0.05, model };
      const won = computeSprt(distributePairs([0, 0, 0, 2, 98]), settings);
      const even = computeSprt(distributePairs([10, 20, 40, 20, 10]), settings);
      assert.ok(won.llr > 3 && won.llr < 500, `${model} ${elo1}: ${won.llr}`);
      assert.ok(even.llr < -3, `${model} ${elo1}: ${even.llr}`);
    }
  }
});

test('a clean sweep has infinite Elo and no doubt', () => {
  const sweep = estimateElo(games(20, 0, 0));
  assert.equal(sweep?.elo, Number.POSITIVE_INFINITY);
  assert.equal(sweep?.los, 1);
  assert.equal(estimateElo(games(0, 0, 0)), null);
});

const sprtCases: [SprtModel, ReturnType<typeof games>, number, number, number][] = [
  ['normalized', games(36433, 36027, 68692), 0, 2, 0.92],
  ['normalized', games(10871, 10650, 20431), -1.75, 0.25, 2.3],
  ['logistic', games(21404, 21184, 40708), 0.5, 2.5, -1.57],
  ['logistic', games(57433, 57030, 106593), 0, 2, -2.59],
  ['normalized', pairs(365, 16618, 36029, 200, 16974, 390), 0, 2, 2.25],
  ['normalized', pairs(127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, 3.01],
  ['logistic', pairs(223, 9863, 20279, 1000, 10037, 246), 0.5, 2.5, -3.07],
  ['logistic', pairs(871, 26175, 55003, 980, 26678, 821), 0, 2, -4.98],
];
for (const [model, distribution, elo0, elo1, llr] of sprtCases) {
  test(`the ${model} likelihood ratio of ${distribution.counts} over [${elo0}, ${elo1}] agrees with fastchess`, () => {
    assertNear(computeLlr(distribution, { elo0, elo1, model }), llr, 0.006);
  });
}

test('a sweep still has a finite likelihood ratio', () => {
  assertNear(computeLlr(games(4250, 0, 0), { elo0: 0, elo1: 10, model: 'normalized' }), 120.56, 1.2);
  assertNear(computeLlr(pairs(0, 0, 0, 0, 0, 5550), { elo0: 0, elo1: 5, model: 'normalized' }), 111.82, 1.1);
});

test('the test decides at its bounds', () => {
  const settings = { elo0: 0, elo1: 50, alpha: 0.05, beta: 0.05, model: 'logistic' } as const;
  const none = computeSprt(games(0, 0, 0), settings);
  assert.equal(none.verdict, 'continue');
  assertNear(none.upper, 2.944, 0.001);
  assert.equal(computeSprt(games(200, 100, 100), settings).verdict, 'elo1');
  assert.equal(computeSprt(games(100, 200, 100), settings).verdict, 'elo0');
});
