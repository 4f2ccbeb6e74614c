/** The hint at `sardonyx tune`: once, only where the user has not chosen, and never a delay. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { NO_NETWORK, TINY_NETWORK, withEngine } from './uci-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-hint-'));
process.env.SARDONYX_CONFIG = folder;
const CACHE = join(folder, 'cache');
after(() => rmSync(folder, { recursive: true, force: true }));

test('a network that was not tuned is mentioned once on a machine', async () => {
  process.env.SARDONYX_CACHE = CACHE;
  const collectHints = async (): Promise<string[]> => {
    let hints: string[] = [];
    await withEngine([], async (engine) => {
      await engine.ask('go nodes 10', 'bestmove');
      await engine.ask(['setoption name Backend value cpu', 'isready'], 'readyok');
      hints = engine.lines.filter((line) => / tune` does it/.test(line));
    });
    return hints;
  };
  const [hint, ...others] = await collectHints();
  assert.match(hint, /^info string Threads and batches are not tuned/);
  assert.deepEqual(others, []);
  assert.deepEqual(await collectHints(), []);
});

test('nobody who has set threads or uses no network is told to tune', async () => {
  for (const args of [[`--weights=${TINY_NETWORK}`, '--threads=1'], NO_NETWORK]) {
    await withEngine([], async (engine) => assert.ok(!engine.lines.some((line) => line.includes('not tuned'))), args);
  }
});
