import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { moveCommandFirst, prepareArguments } from '#sardonyx/cli/program.js';
import { repositoryRoot } from '../support/shared-folder.js';

const COMMANDS = new Set(['bench', 'perft', 'analyse']);

test('a command that stands behind its flags is moved to the front', () => {
  const cases: [string[], string[]][] = [
    [
      ['--nodes', '500', 'bench'],
      ['bench', '--nodes', '500'],
    ],
    [
      ['--json', 'perft', '3'],
      ['perft', '--json', '3'],
    ],
    [
      ['analyse', '--fen', 'bench'],
      ['analyse', '--fen', 'bench'],
    ],
    [['--threads=2'], ['--threads=2']],
    [[], []],
  ];
  for (const [given, expected] of cases) assert.deepEqual(moveCommandFirst(given, COMMANDS), expected);
});

test('--pgn - is one argument, and other dashes stay', () => {
  assert.deepEqual(prepareArguments(['analyse', 'a.pgn', '--pgn', '-'], COMMANDS), ['analyse', 'a.pgn', '--pgn=-']);
  assert.deepEqual(prepareArguments(['analyse', '-', '--pgn', 'b'], COMMANDS), ['analyse', '-', '--pgn', 'b']);
});

test('control characters of a stranger reach the terminal as text, on stdout and on stderr', () => {
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-controls-'));
  try {
    const path = join(folder, 'evil.epd');
    writeFileSync(
      path,
      'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4; id "a\u001b]0;x\u0007\u009b2Jb";\n',
    );
    const runs = [['suite', path, '--backend=hash', '--nodes=1', '--config='], ['no\u001b[2Jsuch']];
    for (const args of runs) {
      const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
      assert.match(stdout + stderr, /\\u001b/);
      assert.doesNotMatch(stdout + stderr, /(?!\n)\p{Cc}/u);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
