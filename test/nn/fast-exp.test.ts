import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeFastExp } from '#sardonyx/nn/evaluators/fast-exp.js';

test('the fast exponential is right to 0.27 % below zero, and at the ends', () => {
  assert.equal(computeFastExp(0), 1);
  assert.equal(computeFastExp(-1000), 0);
  assert.equal(computeFastExp(Number.NEGATIVE_INFINITY), 0);
  assert.ok(Number.isNaN(computeFastExp(Number.NaN)));
  for (let x = -80; x < 0; x += 0.0137) {
    const error = Math.abs(computeFastExp(x) / Math.exp(x) - 1);
    assert.ok(error < 0.0027, `e^${x} is off by ${error}`);
  }
});
