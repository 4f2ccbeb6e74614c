import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, decodeFloat16, encodeFloat16, FLOAT16_INFINITY, FLOAT16_LARGEST } from '#sardonyx/util/index.js';

const encode = (value: number): number => encodeFloat16(value, FLOAT16_INFINITY);

test('every half survives decoding and encoding, -0 and infinity included', () => {
  for (let half = 0; half < 0x10000; half++) {
    const value = decodeFloat16(half);
    if (Number.isNaN(value)) assert.ok(Number.isNaN(decodeFloat16(encode(value))));
    else assert.equal(encode(value), half, `${half}`);
  }
});

test('rounding is to the nearest half, and to the even one in the middle', () => {
  for (let half = 0; half < FLOAT16_LARGEST; half++) {
    const low = decodeFloat16(half);
    const high = decodeFloat16(half + 1);
    assert.equal(encode((low + high) / 2), half % 2 === 0 ? half : half + 1);
    assert.equal(encode(low + (high - low) * 0.25), half);
    assert.equal(encode(-(low + (high - low) * 0.75)), 0x8000 | (half + 1));
  }
  const prng = createPrng(9);
  for (let i = 0; i < 10_000; i++) {
    const value = Math.fround((prng.nextFloat() - 0.5) * 2 ** (prng.nextBelow(40) - 25));
    const half = encode(value);
    const error = Math.abs(decodeFloat16(half) - value);
    const below = half & 0x7fff ? Math.abs(decodeFloat16(half - 1) - value) : error;
    assert.ok(error <= below && error <= Math.abs(decodeFloat16(half + 1) - value), `${value}`);
  }
});

test('what is too large becomes infinity or the largest number, as the caller wants', () => {
  for (const value of [65520, 1e9, Number.POSITIVE_INFINITY]) {
    for (const sign of [1, -1]) {
      assert.equal(decodeFloat16(encodeFloat16(sign * value, FLOAT16_INFINITY)), sign * Number.POSITIVE_INFINITY);
      assert.equal(decodeFloat16(encodeFloat16(sign * value, FLOAT16_LARGEST)), sign * 65504);
    }
  }
  assert.equal(encodeFloat16(65519, FLOAT16_INFINITY), FLOAT16_LARGEST);
});

test('a generator that is restarted goes on as a new one of that seed', () => {
  const random = createPrng(1);
  const draw = (): number[] => Array.from({ length: 5 }, () => random.next32());
  const first = draw();
  random.restart(2);
  const second = draw();
  assert.notDeepEqual(second, first);
  random.restart(1);
  assert.deepEqual(draw(), first);
  const other = createPrng(2);
  assert.deepEqual(
    second,
    second.map(() => other.next32()),
  );
});
