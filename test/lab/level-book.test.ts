/** scripts/lab/strength/level-book.mjs: which positions of labelled games make a book for matches. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { START_FEN } from '#sardonyx/chess/rules/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

const script = join(repositoryRoot, 'scripts', 'lab', 'strength', 'level-book.mjs');
const folder = mkdtempSync(join(tmpdir(), 'sardonyx-book-'));
after(() => rmSync(folder, { recursive: true }));

function makeBook(name: string, games: readonly object[], ...flags: string[]) {
  const file = join(folder, `${name}.jsonl.gz`);
  writeFileSync(file, gzipSync(games.map((game) => JSON.stringify(game)).join('\n')));
  return spawnSync(process.execPath, [script, file, ...flags], { encoding: 'utf8' });
}

test('a book holds one level position of each game, and no position twice', () => {
  const level = { fen: START_FEN, result: '1-0', plies: ['e2e4', 'e7e5', 'g1f3'].map((move) => [move, [[move, 30]]]) };
  const won = { fen: START_FEN, result: '1-0', plies: ['d2d4', 'd7d5', 'c2c4'].map((move) => [move, [[move, 90]]]) };
  const random = { ...level, plies: [['a2a3', []], ...level.plies.slice(1, 2)] };
  const made = makeBook('level', [level, level, won, random], '--first-ply=2');
  assert.equal(made.stdout, 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n', made.stderr);
  assert.equal(makeBook('men', [level], '--first-ply=2', '--men=33').stdout, '');
});

test('a game that cannot be replayed is named', () => {
  const made = makeBook('bad', [{ fen: START_FEN, result: '1-0', plies: [['e2e5', []]] }]);
  assert.equal(made.status, 1);
  assert.match(made.stderr, /bad\.jsonl\.gz, line 1: .*e2e5/);
});
