import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MoveRule } from '#sardonyx/search/protocol/search-protocol.js';
import { MoveFilter } from '#sardonyx/search/visit/move-rules.js';

/** The moves that remain of 1 to 5, each with its prior. */
function filter(rules: readonly MoveRule[], depth: number): number[] {
  const offset = 3;
  const edgeMoves = Uint16Array.of(0, 0, 0, 1, 2, 3, 4, 5, 0);
  const edgePriors = Uint16Array.from(edgeMoves, (move) => 10 * move);
  const count = new MoveFilter(rules).apply({ edgeMoves, edgePriors }, offset, 5, depth);
  const moves = [...edgeMoves.subarray(offset, offset + count)];
  assert.deepEqual(
    [...edgePriors.subarray(offset, offset + count)],
    moves.map((move) => 10 * move),
  );
  return moves;
}

test('rules hold for the plies of their player above their depth', () => {
  const avoid: MoveRule = { parity: 0, untilDepth: 3, moves: [1, 4], isAllowList: false };
  assert.deepEqual(filter([avoid], 0), [2, 3, 5]);
  assert.deepEqual(filter([avoid], 1), [1, 2, 3, 4, 5], 'the opponent’s ply');
  assert.deepEqual(filter([avoid], 2), [2, 3, 5]);
  assert.deepEqual(filter([avoid], 4), [1, 2, 3, 4, 5], 'below the rule');
  const allow: MoveRule = { parity: 1, untilDepth: 2, moves: [2, 9], isAllowList: true };
  assert.deepEqual(filter([allow], 1), [2]);
});

test('several rules leave what all of them leave, and where nothing would be left everything is', () => {
  const first: MoveRule = { parity: 0, untilDepth: 1, moves: [1, 2], isAllowList: false };
  const second: MoveRule = { parity: 0, untilDepth: 5, moves: [5], isAllowList: false };
  assert.deepEqual(filter([first, second], 0), [3, 4]);
  assert.deepEqual(filter([first, second], 2), [1, 2, 3, 4]);
  assert.deepEqual(filter([{ ...first, moves: [1, 2, 3, 4, 5] }], 0), [1, 2, 3, 4, 5]);
});
