import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortEdges } from '#sardonyx/nn/pool/sort-edges.js';
import { createPrng } from '#sardonyx/util/index.js';

test('edges are sorted by prior, descending, and equal priors keep their order', () => {
  const prng = createPrng(3);
  for (let round = 0; round < 2000; round++) {
    const count = 1 + prng.nextBelow(218);
    const offset = prng.nextBelow(30);
    // Few distinct codes in some rounds, all of them in others.
    const range = 1 + prng.nextBelow(round % 2 === 0 ? 5 : 0xf801);
    const moves = new Uint16Array(256);
    const codes = new Uint16Array(256);
    for (let i = 0; i < count; i++) {
      moves[offset + i] = i + 1;
      codes[offset + i] = prng.nextBelow(range);
    }
    const expected = Array.from({ length: count }, (_, i) => ({ move: i + 1, code: codes[offset + i] }));
    expected.sort((a, b) => b.code - a.code || a.move - b.move);
    sortEdges(moves, codes, offset, count);
    const found = expected.map((_, i) => ({ move: moves[offset + i], code: codes[offset + i] }));
    assert.deepEqual(found, expected);
  }
});
