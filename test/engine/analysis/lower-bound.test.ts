import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeBoundRadius } from '#sardonyx/engine/analysis/lower-bound.js';

test('many visits: five standard errors of the mean', () => {
  const mean = 0.2;
  const variance = 0.09;
  const radius = computeBoundRadius(10_000, mean, mean * mean + variance);
  assert.ok(Math.abs(radius - 5 * Math.sqrt(variance / 10_000)) < 1e-6);
});

test('few visits that agree prove little, and each further one proves more', () => {
  let last = computeBoundRadius(0, 0.5, 0.25);
  for (const visits of [1, 2, 3, 5, 10, 100, 1000]) {
    const radius = computeBoundRadius(visits, 0.5, 0.25);
    assert.ok(radius > 0 && radius < last, `${visits} visits: ${radius} after ${last}`);
    last = radius;
  }
  assert.ok(computeBoundRadius(1, 0.5, 0.25) > 2);
});

test('a wider spread moves the bound further down', () => {
  assert.ok(computeBoundRadius(50, 0, 0.3) > computeBoundRadius(50, 0, 0.1));
});
