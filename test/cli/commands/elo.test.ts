import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../support/run-command.js';

const run = (...args: string[]) => runCommand(['elo', ...args]);

test('elo says what wins, draws and losses are worth, and pairs more exactly', async () => {
  assert.equal((await run('6', '2', '2')).stdout, 'Elo: 147.19 +/- 268.72, LOS: 94.31 %\n');
  const { stdout } = await run('2', '5', '20', '9', '4', '--sprt', 'elo0=0 elo1=35 model=logistic');
  const lines = ['Elo: 34.86 +/- 52.28, LOS: 90.76 %', 'LLR: 0.85 (-2.94, 2.94) [0.00, 35.00] logistic: undecided'];
  assert.deepEqual(stdout.split('\n'), [...lines, '']);
  assert.equal((await run('0', '0', '0')).stdout, 'no games\n');
});

test('a program reads Elo, its error and the verdict of the sequential test as JSON', async () => {
  const answer = JSON.parse(
    (await run('0', '0', '20', '0', '20', '--sprt=elo0=0 elo1=35 model=logistic', '--json')).stdout,
  );
  assert.equal(answer.sprt.verdict, 'elo1');
  assert.equal(answer.elo.elo.toFixed(2), '190.85');
  const swept = JSON.parse((await run('0', '0', '0', '0', '9', '--json')).stdout);
  assert.deepEqual([swept.elo.elo, swept.elo.eloError, swept.sprt], [null, null, null]);
});

test('what is no result is one sentence', async () => {
  for (const words of [
    ['1', '2'],
    ['1', '2', 'x'],
    ['1', '-2', '3'],
    ['1.5', '2', '3'],
  ]) {
    const { status, stderr } = await run(...words);
    assert.equal(status, 1);
    assert.match(stderr, /elo takes wins, draws and losses, or five numbers of pairs|Unknown flag/);
  }
});
