import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeScore, computeWdl } from '#sardonyx/search/index.js';
import { SCORE_TYPES } from '#sardonyx/search/options.js';
import { createPrng } from '#sardonyx/util/index.js';

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
