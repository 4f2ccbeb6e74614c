/** A terminal shows how far an analysis or a suite is, and Ctrl-C ends it with what it has found. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type CommandSurroundings, runCommand } from '../../../support/run-command.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-progress-'));
after(() => rmSync(folder, { recursive: true }));

const ENDLESS = ['--nodes=100000000', '--backend=hash'];
/** A search finds the mate at once. */
const MATE_IN_ONE = '6k1/5ppp/8/8/8/8/8/R5K1 w - -';
const GAMES = join(folder, 'games.pgn');
writeFileSync(
  GAMES,
  `[White "A"]
[SetUp "1"]
[FEN "${MATE_IN_ONE} 0 1"]

1. Ra2 Kf8 *

[White "C"]

1. d4 *
`,
);
const SUITE = join(folder, 'suite.epd');
writeFileSync(
  SUITE,
  `${MATE_IN_ONE} bm Ra8;
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;
`,
);

const ESCAPE = '\u001b';
/** What the command wrote without the sequences that move the cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const plain = (text: string): string => text.replace(/\u001b(?:\[[?\d;]*[A-Za-z]|[78])/g, '');

test('one long analysis shows nodes, depth and the best move, and Ctrl-C prints it', async () => {
  const { status, stdout, stderr } = await runCommand(['analyse', 'startpos', ...ENDLESS], {
    columns: 100,
    interruptAt: /[1-9]\d*\/100000000 nodes, depth \d+, \w+ -?\d/,
  });
  assert.equal(status, 130);
  assert.match(stdout, /^rnbqkbnr\S+ w KQkq - 0 1: depth \d+, \d+ nodes; scores for White, the side to move\n +-?\d/);
  assert.match(plain(stderr), /█|░/);
});

test('an analysis without a limit goes on until Ctrl-C', async () => {
  const { status, stdout } = await runCommand(['analyse', 'startpos', '--json', '--nodes=0', '--backend=hash'], {
    columns: 100,
    interruptAt: /\d s, depth/,
  });
  assert.equal(status, 130);
  assert.ok(JSON.parse(stdout).lines.length > 0);
});

test('Ctrl-C in a game leaves its positions so far, in valid JSON and PGN', async () => {
  const surroundings: CommandSurroundings = { columns: 100, interruptAt: /1\/5 positions/ };
  const out = join(folder, 'out.pgn');
  const { status, stdout, stderr } = await runCommand(
    ['analyse', GAMES, '--json', `--pgn=${out}`, ...ENDLESS],
    surroundings,
  );
  assert.equal(status, 130);
  assert.match(plain(stderr), /Interrupted: 2 of 5 positions analysed\n$/);
  const games = JSON.parse(stdout) as { positions: { best: string }[] }[];
  assert.deepEqual(
    games.map(({ positions }) => positions.length),
    [2],
  );
  assert.match(readFileSync(out, 'utf8'), /1\. Ra2 .*\[%eval .*1\.\.\. Kf8 \*/s);
});

test('suite prints its tally at Ctrl-C, without the position under way', async () => {
  const surroundings: CommandSurroundings = { columns: 100, interruptAt: /1\/2 positions, 1 solved/ };
  const { status, stdout, stderr } = await runCommand(
    ['suite', SUITE, '--smart-pruning-factor=1.33', ...ENDLESS],
    surroundings,
  );
  assert.equal(status, 130);
  assert.match(stdout, /^1 of 1 solved \(100\.0 %\), median \d+ nodes? a position\n$/);
  assert.match(plain(stderr), /Interrupted: 1 of 2 positions searched to the end\n$/);
});

test('a narrow terminal shows the figures, on lines that are not longer than it', async () => {
  const { stderr } = await runCommand(['analyse', 'startpos', '--nodes=20000', '--backend=hash'], { columns: 40 });
  assert.match(plain(stderr), /\/20000 nodes, depth \d/);
  assert.doesNotMatch(stderr, /░/);
  // Each drawing begins in the first column.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's
  for (const line of stderr.split(/\u001b\[1G|[\r\n]/)) assert.ok(plain(line).length <= 40, line);
});

test('a terminal that knows no control sequences gets none', async () => {
  const dumb: CommandSurroundings = { columns: 80, env: { TERM: 'dumb' } };
  for (const args of [
    ['analyse', GAMES],
    ['analyse', 'startpos'],
    ['suite', SUITE],
  ]) {
    const { stderr, status } = await runCommand([...args, '--nodes=2000', '--backend=hash'], dumb);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /2000 nodes|positions/);
    assert.ok(!stderr.includes(ESCAPE) && !stderr.includes('░'), stderr);
  }
});
