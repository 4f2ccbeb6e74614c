import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearWord, suggestName } from '#sardonyx/base/util/index.js';

test('the known word is found that was mistyped', () => {
  const known = ['nodes', 'movetime', 'concurrency', 'minibatch-size', 'json', 'pgn'];
  const pairs: [typed: string, near: string | null][] = [
    ['ndoes', 'nodes'],
    ['node', 'nodes'],
    ['move-time', 'movetime'],
    ['moveTimeMs', 'movetime'],
    ['conc', 'concurrency'],
    ['minibtach-size', 'minibatch-size'],
    ['jsno', 'json'],
    ['png', 'pgn'],
    ['threads', null],
    ['x', null],
    ['', null],
    ['n'.repeat(100_000), null],
  ];
  for (const [typed, near] of pairs) assert.equal(findNearWord(typed, known), near, typed.slice(0, 20));
  assert.equal(suggestName('-ndoes=5', known, 'see the help'), '; did you mean --nodes?');
  assert.equal(suggestName('threads', known, 'see the help'), '; see the help');
});
