import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { NO_TABLEBASES, type RootRanking, rankRootMoves, Tablebases } from '#sardonyx/chess/syzygy/index.js';
import { findShared, repositoryRoot } from '../../support/shared-folder.js';

const { path: folder, skip } = findShared('syzygy');
const golden = join(repositoryRoot, 'test', 'chess', 'syzygy', 'golden', 'positions.txt');

interface Question {
  readonly fen: string;
  readonly moves?: string;
  readonly fastPlay?: boolean;
  readonly fiftyMoveRule?: boolean;
}

function rank({ fen, moves = '', fastPlay = false, fiftyMoveRule = true }: Question): RootRanking {
  const tables = new Tablebases(folder, assert.fail);
  const position = unwrap(parseFen(fen));
  for (const text of moves.split(' ').filter(Boolean)) position.makeMove(unwrap(parseUciMove(position, text)));
  const ranking = rankRootMoves(tables, { ...NO_TABLEBASES, fiftyMoveRule }, position, fastPlay);
  assert.ok(ranking !== null);
  return ranking;
}

function format({ moves }: RootRanking): string[] {
  return moves.map((move) => formatUciMove(move, false)).sort();
}

test('results and distances of all tables of 3 and 4 men are those of python-chess', { skip }, () => {
  const tables = new Tablebases(folder, assert.fail);
  const rows = readFileSync(golden, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  assert.ok(rows.length > 450);
  for (const row of rows) {
    const [fen, wdl, dtz] = row.split(';');
    const position = unwrap(parseFen(fen));
    assert.ok(tables.mayProbe(position), fen);
    assert.equal(tables.probeWdl(position), Number(wdl), fen);
    assert.equal(tables.probeDtz(position), Number(dtz), fen);
  }
});

test('castling rights, too many men and missing tables are not probed', { skip }, () => {
  const tables = new Tablebases(folder, assert.fail);
  const mayProbe = (fen: string, limit?: number): boolean => tables.mayProbe(unwrap(parseFen(fen)), limit);
  assert.equal(mayProbe('4k3/8/8/8/8/8/8/4K2R w - - 0 1'), true);
  assert.equal(mayProbe('4k3/8/8/8/8/8/8/4K2R w K - 0 1'), false);
  assert.equal(mayProbe('4k3/8/8/8/8/8/8/4K2R w - - 0 1', 2), false);
  assert.equal(mayProbe('4k3/8/8/8/8/8/8/QQQ1K2R w - - 0 1'), false);
});

test('at the root every sure win stays, and only the fastest with fast play', { skip }, () => {
  const fen = '8/8/8/4k3/8/8/3QK3/8 w - - 0 1';
  const all = rank({ fen });
  assert.equal(all.result, 1);
  assert.equal(all.usesDtz, true);
  assert.ok(all.moves.length > 15);
  const hanging = ['d2d4', 'd2d5', 'd2f4', 'd2d6'];
  assert.deepEqual(
    format(all).filter((move) => hanging.includes(move)),
    [],
  );
  const fast = rank({ fen, fastPlay: true });
  assert.ok(fast.moves.length < 5);
});

test('once a position was repeated only the fastest wins stay', { skip }, () => {
  const fen = '8/8/8/4k3/8/8/3QK3/8 w - - 0 1';
  const shuffle = 'd2d1 e5e4 d1d2 e4e5';
  assert.deepEqual(format(rank({ fen, moves: shuffle })), format(rank({ fen, fastPlay: true })));
});

test('the count of the fifty-move rule turns slow wins into draws', { skip }, () => {
  // The longest win in this table takes more plies than are left.
  const late = rank({ fen: '8/8/8/4k3/8/8/3QK3/8 w - - 95 100' });
  assert.equal(late.result, 0);
  const free = rank({ fen: '8/8/8/4k3/8/8/3QK3/8 w - - 95 100', fiftyMoveRule: false });
  assert.equal(free.result, 1);
  const soon = rank({ fen: '8/8/8/4k3/8/8/3QK3/8 w - - 86 100' });
  assert.equal(soon.result, 1);
  assert.ok(soon.moves.length < rank({ fen: '8/8/8/4k3/8/8/3QK3/8 w - - 0 1' }).moves.length);
});

test('lost positions keep all moves that lose, drawn ones only those that draw', { skip }, () => {
  const lost = rank({ fen: '8/8/8/4k3/8/8/8/3QK3 b - - 0 1' });
  assert.equal(lost.result, -1);
  assert.equal(lost.moves.length, 5);
  const saved = rank({ fen: '8/8/8/8/8/3k4/3Q4/7K b - - 0 1' });
  assert.deepEqual([saved.result, format(saved)], [0, ['d3d2']]);
});
