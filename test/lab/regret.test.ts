import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { repositoryRoot } from '../support/shared-folder.js';

const SCRIPT = join(repositoryRoot, 'scripts', 'lab', 'strength', 'regret.mjs');
const FEN = '7k/8/8/8/8/8/8/K7 w - - 0 1';
const LEGAL = ['a1a2', 'a1b1', 'a1b2'];
const OPTIONS = 'Backend=trivial';

/** Expected score, 0 … 1: two logistic curves, as in training. */
function computeExpectedScore(centipawns: number): number {
  const logistic = (x: number) => 1 / (1 + Math.exp(-x));
  return (1 + logistic((centipawns - 80) / 100) - logistic((-centipawns - 80) / 100)) / 2;
}

/** The position three times, each time with another move missing from the list: whatever is played is first, last and missing. */
function writeGames(path: string): void {
  const games = LEGAL.map((_, missing) => {
    const [first, last] = [LEGAL[(missing + 1) % 3], LEGAL[(missing + 2) % 3]];
    return JSON.stringify({
      fen: FEN,
      result: '1/2-1/2',
      plies: [[first, Object.entries({ [first]: 50, [last]: 0 })]],
    });
  });
  writeFileSync(path, gzipSync(games.join('\n')));
}

test('regret.mjs judges moves by the list; a move outside it counts as the last one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'regret-'));
  try {
    const games = join(folder, 'games.jsonl.gz');
    writeGames(games);
    const words = [SCRIPT, games, '--positions=3', '--nodes=5', `--engine=${OPTIONS}`, `--engine=${OPTIONS}`];
    const { stdout } = await promisify(execFile)(process.execPath, words);

    const regret = ((200 / 3) * (computeExpectedScore(50) - computeExpectedScore(0))).toFixed(3);
    const rows = stdout.trim().split('\n').slice(2);
    assert.equal(rows.length, 2);
    for (const row of rows) {
      const [options, nodes, own, share, , difference] = row.slice(2, -2).split(' | ');
      assert.deepEqual([options, nodes, own.split(' ')[0], share], [OPTIONS, '5', regret, '33.3 %']);
      assert.equal(difference, '0.000 ± 0.000');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
