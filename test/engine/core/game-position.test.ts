import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import { createGamePosition, PositionReader } from '#sardonyx/engine/core/game-position.js';

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

test('a game that goes on is read from where it was, with the same result as from its start', () => {
  const reader = new PositionReader();
  const moves = 'e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1 f6e4 f1e1 e4f6 g2g3'.split(' ');
  for (const count of [0, 2, 2, 5, 3, 11, 8, 11]) {
    const texts = moves.slice(0, count);
    const read = unwrap(reader.read(null, texts));
    const fresh = unwrap(createGamePosition(null, texts));
    assert.deepEqual([read.rootFen, read.moves], [fresh.rootFen, fresh.moves]);
    assert.equal(formatFen(read.position), formatFen(fresh.position));
    assert.equal(read.position.historyLength, count);
  }
  const growing = ['e2e4'];
  unwrap(reader.read(null, growing));
  growing.push('e7e5');
  assert.equal(unwrap(reader.read(null, growing)).moves.length, 2);
  assert.ok(!reader.read(null, [...moves, 'e2e4']).ok);
  assert.equal(unwrap(reader.read(null, moves)).moves.length, moves.length);
  assert.equal(unwrap(reader.read('8/8/8/4k3/8/8/3QK3/8 w - - 0 1', [])).moves.length, 0);
});
