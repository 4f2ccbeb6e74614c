/** The speeds by which the engine chooses between networks: the real measurement, and its rule under load. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compareSearchers, measurePlayedSpeeds } from '#sardonyx/networks/played-speed.js';
import { unwrap } from '#sardonyx/util/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

const readModel = (file: string) => {
  const name = join(repositoryRoot, 'models', file);
  return { bytes: readFileSync(name), name };
};

test('searches with bundled networks are measured in rounds', async () => {
  const models = [readModel('default-int8.onnx'), readModel('light.onnx')];
  const rounds = unwrap(await measurePlayedSpeeds(models));
  assert.ok(rounds.length >= 1 && rounds.length <= 4);
  for (const round of rounds)
    assert.ok(round.length === 2 && round.every((speed) => speed >= 0 && speed < 1e6), `${round}`);
});

test('a file that is no network is a failure, not an exception', async () => {
  const zeros = { bytes: new Uint8Array(100), name: 'zeros.onnx' };
  const speeds = await measurePlayedSpeeds([readModel('light.onnx'), zeros]);
  assert.match(speeds.ok ? '' : speeds.error, /zeros\.onnx/);
});

test('searches take turns, so that both of a round meet the same machine; on a slow one fewer rounds are measured', async () => {
  const order: string[] = [];
  let timeMs = 0;
  let searchMs = 150;
  const createSearcher = (name: string, speed: number) => ({
    search: async () => {
      timeMs += searchMs;
      return order.push(name) * speed;
    },
    dispose: async () => undefined,
  });
  const searchers = [createSearcher('a', 100), createSearcher('b', 1)];
  const rounds = await compareSearchers(searchers, () => timeMs);
  assert.equal(order.join(''), 'abababab');
  assert.deepEqual(rounds, [
    [100, 2],
    [300, 4],
    [500, 6],
    [700, 8],
  ]);
  for (const [slowMs, count] of [
    [1000, 2],
    [10_000, 1],
  ]) {
    searchMs = slowMs;
    assert.equal((await compareSearchers(searchers, () => timeMs)).length, count);
  }
});
