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

test('searches with bundled networks are measured, and the light one is the faster', async () => {
  const models = [readModel('default-int8.onnx'), readModel('light.onnx')];
  const { nodesPerSecond, isSteady } = unwrap(await measurePlayedSpeeds(models));
  const [int8, light] = nodesPerSecond;
  assert.equal(nodesPerSecond.length, 2);
  assert.ok(int8 > 0 && light < 1e6, nodesPerSecond.join(', '));
  // On a machine that is very busy either may be interrupted in every search.
  if (isSteady) assert.ok(light > int8, nodesPerSecond.join(', '));
});

test('a file that is no network is a failure, not an exception', async () => {
  const zeros = { bytes: new Uint8Array(100), name: 'zeros.onnx' };
  const speeds = await measurePlayedSpeeds([readModel('light.onnx'), zeros]);
  assert.match(speeds.ok ? '' : speeds.error, /zeros\.onnx/);
});

test('searches take turns, the best of each counts, and two that agree end the measurement', async () => {
  const compare = async (...runs: readonly (readonly number[])[]) => {
    const order: number[] = [];
    const searchers = runs.map((speeds, index) => ({
      search: async () => {
        order.push(index);
        return speeds[(order.filter((other) => other === index).length - 1) % speeds.length];
      },
      dispose: async () => undefined,
    }));
    return { ...(await compareSearchers(searchers)), order: order.join('') };
  };
  assert.deepEqual(await compare([900, 1000, 990], [500, 510, 400]), {
    nodesPerSecond: [1000, 510],
    isSteady: true,
    order: '010101',
  });
  assert.deepEqual(await compare([100, 1000, 300, 980], [500]), {
    nodesPerSecond: [1000, 500],
    isSteady: true,
    order: '01010101',
  });
  const busy = await compare([100, 200, 300, 400, 500], [500]);
  assert.deepEqual([busy.isSteady, busy.order.length], [false, 10]);
});
