import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFen, START_FEN } from '#sardonyx/chess/index.js';
import { createGamePosition } from '#sardonyx/engine/index.js';
import { unwrap } from '#sardonyx/util/index.js';

test('a game is its start and its moves', () => {
  const game = unwrap(createGamePosition(null, ['e2e4', 'e7e5', 'g1f3']));
  assert.equal(game.moves.length, 3);
  assert.equal(formatFen(game.position), 'rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2');
});

test('different spellings of one start give the same root', () => {
  const spelt = ['KQkq', 'HAha'].map((rights) => START_FEN.replace('KQkq', rights));
  const roots = spelt.map((fen) => unwrap(createGamePosition(fen, [])).rootFen);
  assert.equal(roots[0], roots[1]);
  assert.equal(unwrap(createGamePosition(null, [])).rootFen, roots[0]);
});

test('an illegal FEN or move is refused with a reason', () => {
  for (const [fen, moves] of [
    ['8/8/8/8/8/8/8/8 w - - 0 1', []],
    ['nonsense', []],
    [null, ['e2e5']],
    [null, ['e2e4', 'e2e4']],
    [null, ['0000']],
  ] as [string | null, string[]][]) {
    const result = createGamePosition(fen, moves);
    assert.ok(!result.ok);
    assert.match(result.error, /^Illegal (position|move): ./);
  }
});
