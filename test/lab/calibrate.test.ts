/** scripts/lab/strength/calibrate.mjs: what it says where there is nothing to measure. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fakeEngine, repositoryRoot } from '../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-calibrate-'));
after(() => rmSync(folder, { recursive: true }));

const script = join(repositoryRoot, 'scripts', 'lab', 'strength', 'calibrate.mjs');

function calibrate(...args: string[]) {
  return spawnSync(process.execPath, [script, '--folder', folder, ...args], { encoding: 'utf8' });
}

test('calibrate says in one sentence what is wrong, and writes no table without games', () => {
  const missing = join(folder, 'gone.onnx');
  for (const [args, sentence] of [
    [['--fit-only'], /^There are no games of this network in \S+: play them first, without --fit-only\n$/],
    [['--network', missing], /^Cannot read the network \S+gone\.onnx: there is no such file\n$/],
    [['--games', 'x'], /^--games must be a whole number from 1\n$/],
    [['--no-such-flag'], /^Unknown arguments?: [^\n]*\n$/],
    [['--games=8', '--stockfish', join(folder, 'no-engine')], /^\S+no-engine cannot be started: [^\n]*\n$/],
  ] as const) {
    const run = calibrate(...args);
    assert.equal(run.status, 1, args.join(' '));
    assert.match(run.stderr, sentence);
    assert.equal(run.stdout, '');
  }
});

test('the table names the program that the games are against, as it calls itself', {
  skip: process.platform === 'win32' && 'a script is no program there',
}, () => {
  const network = join(repositoryRoot, 'models', 'light.onnx');
  const hash = createHash('sha256').update(readFileSync(network)).digest('hex').slice(0, 12);
  const games = join(folder, `${hash}-5+0.05`);
  mkdirSync(games);
  const levels = ['1-2', '1-1.2', '1-0.8', '1-0.6', '1-0.4', '1-0.25', '16-0.25', '64-0.25'];
  for (const [i, level] of levels.entries()) {
    const name = `n${level.replace('-', '-t')}`;
    const lines = Array.from({ length: 20 }, (_, game) => ({
      white: name,
      result: game < 2 * (i + 1) ? '1-0' : '0-1',
    }));
    writeFileSync(join(games, `${level}-1350.jsonl`), `{}\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  }
  const { command, args } = fakeEngine('--name=Fakefish 7');
  const program = join(folder, 'fakefish');
  writeFileSync(program, `#!/bin/sh\nexec "${command}" ${args.map((arg) => `"${arg}"`).join(' ')}\n`, { mode: 0o755 });
  const asked = calibrate('--fit-only', '--dry-run', '--stockfish', program);
  assert.equal(asked.status, 0, asked.stderr);
  assert.match(
    asked.stdout,
    /^\d{4}-\d\d-\d\d, models\/light\.onnx \(sha256 [0-9a-f]{12}\), Fakefish 7 at 5\+0\.05\.$/m,
  );
  // Whoever played is written down with the games, and no other may go on with them.
  writeFileSync(join(games, 'opponent.txt'), 'Stockfish 15.1\n');
  assert.match(
    calibrate('--fit-only', '--dry-run', '--stockfish', program).stdout,
    /, Stockfish 15\.1 at 5\+0\.05\.$/m,
  );
  const other = calibrate('--games=8', '--stockfish', program);
  assert.deepEqual([other.status, other.stdout], [1, '']);
  assert.match(other.stderr, /^The games in \S+ are against Stockfish 15\.1, not Fakefish 7\n$/);
});
