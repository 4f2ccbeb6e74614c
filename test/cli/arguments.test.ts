import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveCommandFirst, prepareArguments } from '#sardonyx/cli/arguments.js';

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
