import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatFen, type Move, Position, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import { MAX_ROOT_MOVES, ROOT_ROWS } from '#sardonyx/networks/leaves/index.js';
import { RootTable } from '#sardonyx/networks/leaves/root-table.js';

test('what is written into a row is read from it, by another thread as well', () => {
  const buffer = RootTable.createBuffer();
  const writer = new RootTable(buffer);
  const reader = new RootTable(buffer);
  for (const row of [0, 1, ROOT_ROWS - 1]) {
    const before = reader.getVersion(row);
    const moves = Uint16Array.from({ length: 300 + row }, (_, i) => i * 7 + row);
    const root = {
      fen: START_FEN,
      moves,
      twoFoldDraws: row === 1,
      keyHistory: 7,
      skipsTablebases: row === 0,
      lc0Order: row === 1,
    };
    writer.write(row, root);
    assert.notEqual(reader.getVersion(row), before);
    assert.deepEqual(reader.read(row), root);
  }
});

test('a row holds the longest game it promises to hold', () => {
  const table = new RootTable(RootTable.createBuffer());
  const moves = new Uint16Array(MAX_ROOT_MOVES).fill(77);
  table.write(5, { fen: START_FEN, moves, twoFoldDraws: true });
  assert.deepEqual(table.read(5).moves, moves);
  assert.equal(table.read(4).moves.length, 0);
});

test('a longer game is kept from a later position on', () => {
  const position = new Position();
  const shuffle = ['g1f3', 'g8f6', 'f3g1', 'f6g8'];
  const moves = Array.from({ length: MAX_ROOT_MOVES + 100 }, (_, i) => {
    const move = unwrap(parseUciMove(position, shuffle[i % 4]));
    position.makeMove(move);
    return move;
  });
  const table = new RootTable(RootTable.createBuffer());
  table.write(0, { fen: START_FEN, moves, twoFoldDraws: true });
  const root = table.read(0);
  const replayed = unwrap(parseFen(root.fen));
  for (let i = 0; i < root.moves.length; i++) replayed.makeMove(root.moves[i] as Move);
  assert.equal(formatFen(replayed), formatFen(position));
  assert.ok(replayed.repetitions() > 100);
});
