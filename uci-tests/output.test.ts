/** Move statistics, in the conversation and in the log, and the tree that an analysis comes back to. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NO_NETWORK, needsProcess, type UciProcess, withEngine } from './uci-process.js';

test(
  'VerboseMoveStats prints moves and node before bestmove; LogLiveStats fills the log alone',
  needsProcess,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sardonyx-live-'));
    t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
    const path = join(folder, 'live.log');
    await withEngine([`LogFile value ${path}`, 'LogLiveStats value true'], async (engine) => {
      const quiet = await engine.ask(['position startpos', 'go nodes 60'], 'bestmove');
      assert.deepEqual(
        quiet.filter((line) => line.startsWith('info string')),
        [],
      );
      assert.match(readFileSync(path, 'utf8'), /Z e2e4 +\(/);
      const loud = await engine.ask(
        ['setoption name VerboseMoveStats value true', 'ucinewgame', 'go nodes 60'],
        'bestmove',
      );
      assert.ok(loud.filter((line) => line.startsWith('info string')).length > 21);
      // Without live statistics they stand between the last report and the move.
      const last = await engine.ask(
        ['setoption name LogLiveStats value false', 'ucinewgame', 'go nodes 100'],
        'bestmove',
      );
      assert.match(last.at(-23) ?? '', /^info depth/);
      const stats = last.slice(-22, -1);
      assert.deepEqual(
        last.filter((line) => line.startsWith('info string')),
        stats,
      );
      for (const line of stats.slice(0, -1)) assert.match(line, /^info string [a-h][1-8][a-h][1-8] .* N: +\d+ /);
      assert.match(stats.at(-1) ?? '', /^info string node .* N: +100 /);
    });
  },
);

test('in UCI_AnalyseMode a tree is there again after a step back and forth', async () => {
  const check = async (engine: UciProcess): Promise<void> => {
    const go = async (moves: string, nodes: number): Promise<number> => {
      const lines = await engine.ask([`position startpos moves ${moves}`, `go nodes ${nodes}`], 'bestmove');
      return Number(/ nodes (\d+)/.exec(lines.at(-2) ?? '')?.[1]);
    };
    assert.equal(await go('e2e4 e7e5 g1f3', 1000), 1000);
    assert.ok((await go('e2e4 e7e5', 10)) < 100);
    assert.ok((await go('e2e4 e7e5 g1f3', 10)) >= 1000);
    await engine.ask(['setoption name UCI_AnalyseMode value false', 'isready'], 'readyok');
    assert.ok((await go('e2e4 e7e5', 10)) < 100);
    assert.ok((await go('e2e4 e7e5 g1f3', 10)) < 100);
  };
  await withEngine(['UCI_AnalyseMode value true'], check, NO_NETWORK);
});
