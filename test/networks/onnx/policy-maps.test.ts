import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ATTENTION_POLICY_OUTPUTS,
  CONVOLUTION_POLICY_PLANES,
  computeAttentionPolicyMap,
  computeConvolutionPolicyMap,
  computePositionMap,
} from '#sardonyx/networks/onnx/policy-maps.js';
import { listMoves } from '../../support/lc0-reference.js';

const square = (name: string): number => name.charCodeAt(0) - 97 + 8 * (Number(name[1]) - 1);

describe('the policy maps', () => {
  for (const [name, map, size] of [
    ['attention', computeAttentionPolicyMap(), ATTENTION_POLICY_OUTPUTS],
    ['convolution', computeConvolutionPolicyMap(), CONVOLUTION_POLICY_PLANES * 64],
  ] as const) {
    it(`of ${name} heads give each of the 1858 moves a place of its own`, () => {
      assert.equal(map.length, 1858);
      assert.equal(new Set(map).size, 1858);
      assert.ok(map.every((index) => index >= 0 && index < size));
    });
  }

  it('know the moves that lc0 numbers so', () => {
    const attention = computeAttentionPolicyMap();
    const convolution = computeConvolutionPolicyMap();
    const known: [number, string, number][] = [
      [0, 'a1b1', 14], // east, one step
      [34, 'b1a3', 63], // the last of the knight's jumps
      [322, 'e2e4', 1], // north, two steps
      [1332, 'g6e4', 36], // south-west, two steps
    ];
    for (const [index, move, plane] of known) {
      const from = square(move.slice(0, 2));
      assert.equal(attention[index], 64 * from + square(move.slice(2)), move);
      assert.equal(convolution[index], 64 * plane + from, move);
    }
    // The last move of all is h7-h8 with promotion to a bishop.
    assert.equal(attention[1857], 4096 + 24 * 7 + 3 * 7 + 2);
    assert.equal(convolution[1857], 64 * 68 + square('h7'));
  });

  it('list the moves in the order of the reference', () => {
    const attention = computeAttentionPolicyMap();
    for (const [index, { from, to, promotion }] of listMoves().entries()) {
      const expected = promotion < 0 ? 64 * from + to : 4096 + 24 * (from % 8) + 3 * (to % 8) + promotion;
      assert.equal(attention[index], expected);
    }
  });
});

describe('the positional map', () => {
  it('is symmetric, has −1 on its diagonal and a 1 for each of the 1792 moves without promotion', () => {
    const map = computePositionMap();
    let moves = 0;
    for (let from = 0; from < 64; from++) {
      assert.equal(map[from * 64 + from], -1);
      for (let to = 0; to < 64; to++) {
        assert.equal(map[from * 64 + to], map[to * 64 + from]);
        if (map[from * 64 + to] === 1) moves++;
      }
    }
    assert.equal(moves, 1792);
  });
});
