import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runSideBySide } from '#sardonyx/util/index.js';

test('all work is done, each with its number', async () => {
  const done: number[] = [];
  await runSideBySide(4, async (index) => void done.push(index), assert.fail);
  assert.deepEqual(done, [0, 1, 2, 3]);
  await runSideBySide(0, async () => assert.fail(), assert.fail);
});

test('the first error ends the others and is thrown when all have ended', async () => {
  const stop = new AbortController();
  let ends = 0;
  let working = 3;
  const work = async (index: number): Promise<void> => {
    try {
      if (index === 1) throw new Error('the first');
      if (!stop.signal.aborted) await once(stop.signal, 'abort');
      for (let turn = 0; turn < 10 * index; turn++) await nextTurn();
      if (index === 2) throw new Error('a later one');
    } finally {
      working--;
    }
  };
  const end = (): void => {
    ends++;
    stop.abort();
  };
  await assert.rejects(runSideBySide(3, work, end), /the first/);
  assert.deepEqual([working, ends], [0, 1]);
});
