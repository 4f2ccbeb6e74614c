import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createPrng,
  decodeFloat16,
  encodeBfloat16,
  encodeFloat16,
  FLOAT16_LARGEST,
  getFloat16Table,
} from '#sardonyx/base/util/index.js';

function decodeBfloat16(brain: number): number {
  return new Float32Array(Uint32Array.of(brain << 16).buffer)[0];
}

const encodeHalfWeight = (weight: number) => encodeFloat16(weight, FLOAT16_LARGEST);

describe('half precision', () => {
  it('is read from a table of all halves', () => {
    const table = getFloat16Table();
    for (let half = 0; half < 65536; half++) assert.ok(Object.is(table[half], decodeFloat16(half)), `${half}`);
  });

  it('keeps weights that are too large finite', () => {
    assert.equal(decodeFloat16(encodeHalfWeight(1e6)), 65504);
    assert.equal(decodeFloat16(encodeHalfWeight(-70000)), -65504);
    assert.equal(decodeFloat16(encodeHalfWeight(Number.NEGATIVE_INFINITY)), -65504);
    assert.ok(Number.isNaN(decodeFloat16(encodeHalfWeight(Number.NaN))));
  });
});

describe('bfloat16', () => {
  it('is the inverse of itself for every finite number', () => {
    for (let brain = 0; brain < 65536; brain++) {
      const value = decodeBfloat16(brain);
      if (Number.isFinite(value)) assert.equal(encodeBfloat16(value), brain);
    }
  });

  it('rounds to the nearest number', () => {
    const prng = createPrng(5);
    for (let i = 0; i < 1000; i++) {
      const value = Math.fround((prng.nextFloat() - 0.5) * 2 ** (prng.nextBelow(40) - 20));
      const error = Math.abs(decodeBfloat16(encodeBfloat16(value)) - value);
      assert.ok(error <= Math.abs(value) / 256, `${value} came back with an error of ${error}`);
    }
  });
});
