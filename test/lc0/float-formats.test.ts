import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeBfloat16,
  decodeFloat16,
  encodeBfloat16,
  encodeFloat16,
  getFloat16Table,
} from '#sardonyx/lc0/float-formats.js';
import { createPrng } from '#sardonyx/util/index.js';

describe('half precision', () => {
  it('is the inverse of itself for every finite number', () => {
    const table = getFloat16Table();
    for (let half = 0; half < 65536; half++) {
      const value = decodeFloat16(half);
      assert.ok(Object.is(table[half], value) || (Number.isNaN(table[half]) && Number.isNaN(value)));
      if (Number.isFinite(value)) assert.equal(encodeFloat16(value), half);
    }
  });

  it('rounds to the nearest number, and to the even one in the middle', () => {
    for (let half = 0; half < 0x7bff; half++) {
      const low = decodeFloat16(half);
      const high = decodeFloat16(half + 1);
      const even = half % 2 === 0 ? half : half + 1;
      assert.equal(encodeFloat16((low + high) / 2), even);
      assert.equal(encodeFloat16(low + (high - low) * 0.25), half);
      assert.equal(encodeFloat16(-(low + (high - low) * 0.75)), 0x8000 | (half + 1));
    }
  });

  it('keeps numbers that are too large finite', () => {
    assert.equal(decodeFloat16(encodeFloat16(1e6)), 65504);
    assert.equal(decodeFloat16(encodeFloat16(-70000)), -65504);
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
