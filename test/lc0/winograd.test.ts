/** F(8, 3) over the ranks: its matrices give the filter's outputs, and a bias at point 1 reaches all of them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BIAS_PRODUCT, createWinogradMatrices, PRODUCTS, RANKS } from '#sardonyx/lc0/winograd.js';
import { createPrng } from '#sardonyx/util/index.js';

it('ten products give the eight outputs of a three-tap filter plus a bias', () => {
  const { forward, inverse, filter } = createWinogradMatrices();
  const prng = createPrng(3);
  const draw = (): number => prng.nextBelow(2001) / 1000 - 1;
  for (let round = 0; round < 100; round++) {
    const ranks = Array.from({ length: RANKS }, draw);
    const taps = [draw(), draw(), draw()];
    const bias = draw();
    const products = filter.map((row, product) => {
      const tap = row.reduce((sum, factor, i) => sum + factor * taps[i], 0);
      const rank = ranks.reduce((sum, value, i) => sum + forward[product * RANKS + i] * value, 0);
      return tap * rank + (product === BIAS_PRODUCT ? bias : 0);
    });
    for (let rank = 0; rank < RANKS; rank++) {
      const output = products.reduce((sum, value, product) => sum + inverse[rank * PRODUCTS + product] * value, 0);
      const expected = taps.reduce((sum, tap, i) => sum + tap * (ranks[rank + i - 1] ?? 0), bias);
      assert.ok(Math.abs(output - expected) < 2e-5, `${output} for ${expected}`);
    }
  }
});
