import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DASH } from '#sardonyx/cli/declare-command.js';
import { moveCommandFirst, prepareArguments } from '#sardonyx/cli/prepare-arguments.js';
import { runCommand } from '../support/run-command.js';
import { repositoryRoot } from '../support/shared-folder.js';

/** All marks that change the order in which a terminal shows text. */
const DIRECTIONS = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';

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

test('--pgn - is one argument, and a dash that stands alone reaches its command', () => {
  assert.deepEqual(prepareArguments(['analyse', 'a.pgn', '--pgn', '-'], COMMANDS), ['analyse', 'a.pgn', '--pgn=-']);
  assert.deepEqual(prepareArguments(['analyse', '-', '--pgn', 'b'], COMMANDS), ['analyse', DASH, '--pgn', 'b']);
});

test('help COMMAND is the help of the command', () => {
  for (const given of [
    ['help', 'perft'],
    ['perft', '-help'],
  ]) {
    assert.deepEqual(prepareArguments(given, COMMANDS), ['perft', '--help']);
  }
  assert.deepEqual(prepareArguments(['help'], COMMANDS), ['--help']);
});

test('control characters of a stranger reach the terminal as text, on stdout and on stderr', () => {
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-controls-'));
  try {
    const path = join(folder, 'evil.epd');
    writeFileSync(
      path,
      `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4; id "a\u001b]0;x\u0007\u009b2J${DIRECTIONS}b";\n`,
    );
    const runs = [['suite', path, '--backend=hash', '--nodes=1', '--config='], [`no\u001b[2J${DIRECTIONS}such`]];
    for (const args of runs) {
      const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
      assert.match(stdout + stderr, /\\u061c\\u200e\\u200f\\u202a/);
      assert.doesNotMatch(stdout + stderr, /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a PGN file keeps the marks of direction of its names, and what a terminal gets shows them as text', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-directions-'));
  const name = `\u202bשלום${DIRECTIONS}`;
  writeFileSync(join(folder, 'a.pgn'), `[White "${name}"]\n[Black "b\u001b[2J"]\n\n1. e4 *\n`);
  const analyse = ['analyse', 'a.pgn', '--backend=hash', '--nodes=1', '--threads=1', '--config='];
  const { isTTY } = process.stdout;
  try {
    process.stdout.isTTY = false;
    assert.equal((await runCommand([...analyse, '--pgn=b.pgn'], { cwd: folder })).status, 0);
    const piped = await runCommand([...analyse, '--pgn=-'], { cwd: folder });
    for (const text of [readFileSync(join(folder, 'b.pgn'), 'utf8'), piped.stdout]) {
      assert.ok(text.includes(`[White "${name}"]\n[Black "b[2J"]`), text);
    }
    process.stdout.isTTY = true;
    const shown = await runCommand([...analyse, '--pgn=-'], { cwd: folder });
    assert.match(shown.stdout, /\[White "\\u202bשלום\\u061c\\u200e/);
    assert.doesNotMatch(shown.stdout, /\p{Bidi_Control}/u);
    const json = JSON.parse((await runCommand([...analyse, '--json'], { cwd: folder })).stdout);
    assert.equal(json[0].headers.White, name);
  } finally {
    process.stdout.isTTY = isTTY;
    rmSync(folder, { recursive: true });
  }
});
