import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSplit, EMPTY_GAME_HASH, hashText, parseSplitShares } from '#sardonyx/data/game-split.js';
import { unwrap } from '#sardonyx/util/index.js';

test('shares are met over many games, and a game stays where it was', () => {
  const shares = unwrap(parseSplitShares('96/2/2'));
  const counts = { train: 0, validation: 0, test: 0 };
  for (let i = 0; i < 50_000; i++) {
    const hash = hashText(EMPTY_GAME_HASH, `e2e4${i}`);
    const split = chooseSplit(hash, shares);
    assert.equal(chooseSplit(hash, shares), split);
    counts[split]++;
  }
  assert.ok(Math.abs(counts.validation - 1000) < 120 && Math.abs(counts.test - 1000) < 120, JSON.stringify(counts));
});

test('shares need three numbers that are not all zero', () => {
  assert.deepEqual(unwrap(parseSplitShares('8/1/1')), [0.8, 0.1, 0.1]);
  for (const text of ['', '96/2', '1/2/3/4', 'a/b/c', '0/0/0', '-1/1/1', '1//1'])
    assert.ok(!parseSplitShares(text).ok, text);
});
