/** What analyse reads and how its text names it: stdin, lists of positions, several games. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from '../../../support/shared-folder.js';

const PROGRAM = join(repositoryRoot, 'dist', 'cli', 'main.js');

function analyse(input: string, ...flags: string[]): { status: number | null; stdout: string; stderr: string } {
  const args = [PROGRAM, 'analyse', '-', '--backend=hash', '--nodes=20', '--config=', ...flags];
  return spawnSync(process.execPath, args, { input, encoding: 'utf8' });
}

test('games come from stdin; the text says whose view the scores are, and a line stands between games', () => {
  const games = '[White "A"]\n[Black "B"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n[White "C"]\n\n1. d4 *\n';
  const { status, stdout, stderr } = analyse(games);
  assert.equal(status, 0, stderr);
  const [first, second] = stdout.split('\n\n');
  assert.match(first, /^Game 1 \(A - B\); scores for the side to move\n1\. f3 /);
  assert.match(first, /\n3\. \(end\) +mated {2}WDL 0 0 1000 +best -$/);
  assert.match(second, /^Game 2 \(C - \?\); scores for the side to move\n1\. d4 .*\n1\.\.\. \(end\) .*\n$/);
  assert.doesNotMatch(stdout, /#-0/);
});

test('of a list of positions each has its name and its FEN', () => {
  const { status, stdout, stderr } = analyse(
    '8/8/8/8/8/k7/8/K6R w - - bm Rh3+; id "tower 1";\n8/8/8/8/8/k7/8/K6R b - - 0 1\n',
  );
  assert.equal(status, 0, stderr);
  assert.match(
    stdout,
    /^tower 1\n8\/8\/8\/8\/8\/k7\/8\/K6R w - - 0 1: depth \d+, 20 nodes; scores for White, the side to move\n.*\n\n8\/8\/8\/8\/8\/k7\/8\/K6R b - - 0 1: .*scores for Black/,
  );
});

test('a word that is no move is reported, and so is an empty stdin', () => {
  const { status, stderr } = analyse('1. e4 xyzzy e5 2. Nf3 *\n');
  assert.deepEqual([status, stderr], [0, 'Game 1: line 1: "xyzzy" is no move, and is kept as a comment\n']);
  const empty = analyse('');
  assert.deepEqual([empty.status, empty.stderr], [1, 'stdin cannot be read: it is empty\n']);
});
