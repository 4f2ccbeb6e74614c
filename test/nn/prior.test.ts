import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePrior, encodePrior } from '#sardonyx/nn/index.js';
import { createPrng } from '#sardonyx/util/index.js';

test('the codes of 0 and 1 and of powers of two are exact', () => {
  assert.equal(encodePrior(0), 0);
  assert.equal(encodePrior(1), 0xf800);
  assert.equal(decodePrior(0), 2 ** -31);
  for (let exponent = 0; exponent < 30; exponent++) {
    assert.equal(decodePrior(encodePrior(2 ** -exponent)), 2 ** -exponent);
  }
});

test('decoding and encoding a code gives the code back', () => {
  for (let code = 0; code <= 0xf800; code++) assert.equal(encodePrior(decodePrior(code)), code);
});

test('codes order as priors do and lose at most one part in 4096', () => {
  const prng = createPrng(7);
  for (let i = 0; i < 10_000; i++) {
    const [a, b] = [prng.nextFloat(), prng.nextFloat() ** 8];
    assert.equal(Math.sign(encodePrior(a) - encodePrior(b)) * Math.sign(a - b) >= 0, true);
    assert.ok(Math.abs(decodePrior(encodePrior(a)) - a) <= a / 4096 + 2 ** -31);
  }
});
