import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { fakeEngine, repositoryRoot } from '../support/shared-folder.js';

const SCRIPT = join(repositoryRoot, 'scripts', 'strength', 'regret.mjs');
const FEN = '7k/8/8/8/8/8/8/K7 w - - 0 1';
const LEGAL = ['a1a2', 'a1b1', 'a1b2'];
const OPTIONS = 'Backend=trivial Threads=1';
const SCORE_OF_JUDGE = 20;

/** Lichess's winning chances, percent. */
function getWinChances(centipawns: number): number {
  return 100 / (1 + Math.exp(-0.00368208 * centipawns));
}

/** The position three times, each time with another move missing from the list: whatever is played is first, second and missing. */
function writeGames(path: string): void {
  const games = LEGAL.map((_, missing) => {
    const [first, second] = [LEGAL[(missing + 1) % 3], LEGAL[(missing + 2) % 3]];
    const scores = Object.entries({ [first]: 50, [second]: 0 });
    return JSON.stringify({ fen: FEN, result: '1/2-1/2', plies: [[first, scores]] });
  });
  writeFileSync(path, gzipSync(games.join('\n')));
}

function writeJudge(path: string): void {
  const { command, args } = fakeEngine(`--score=${SCORE_OF_JUDGE}`);
  const words = [command, ...args].map((word) => `"${word}"`).join(' ');
  writeFileSync(path, `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
}

const skip = process.platform === 'win32' && 'the judge is a shell script';

test('regret.mjs judges moves by the list, and by Stockfish those that are not in it, once', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'regret-'));
  try {
    const games = join(folder, 'games.jsonl.gz');
    const judge = join(folder, 'judge.sh');
    writeGames(games);
    writeJudge(judge);
    const words = [SCRIPT, games, '--positions=3', '--nodes=5', `--stockfish=${judge}`, `--folder=${folder}`];
    const run = () => promisify(execFile)(process.execPath, [...words, `--engine=${OPTIONS}`, `--engine=${OPTIONS}`]);

    const { stdout } = await run();
    const lost = [50, 0, -SCORE_OF_JUDGE].map((score) => getWinChances(50) - getWinChances(score));
    const regret = ((lost[0] + lost[1] + lost[2]) / 3).toFixed(3);
    const rows = stdout.trim().split('\n').slice(2);
    assert.equal(rows.length, 2);
    for (const row of rows) {
      const [options, own, share, difference] = row.slice(2, -2).split(' | ');
      assert.equal(options, OPTIONS);
      assert.equal(own.split(' ')[0], regret);
      assert.equal(share, '33.3 %');
      assert.equal(difference, '0.000 ± 0.000');
    }
    const notes = join(folder, 'stockfish-20000.jsonl');
    const judged = readFileSync(notes, 'utf8');
    assert.equal(judged.trim().split('\n').length, 1);
    assert.equal((await run()).stdout, stdout);
    assert.equal(readFileSync(notes, 'utf8'), judged);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
