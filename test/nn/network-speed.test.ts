/** The speeds by which the engine chooses between networks: the real measurement, and its rule under load. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { measureNetworkSpeeds } from '#sardonyx/nn/index.js';
import { findLeastTimes } from '#sardonyx/nn/least-times.js';
import { unwrap } from '#sardonyx/util/index.js';
import { repositoryRoot } from '../support/shared-folder.js';

const readModel = (file: string) => {
  const name = join(repositoryRoot, 'models', file);
  return { bytes: readFileSync(name), name };
};

test('bundled networks of both kinds are measured, and the light one is the faster', async () => {
  const models = [readModel('default-int8.onnx'), readModel('light.onnx')];
  const { evaluationsPerSecond, isSteady } = unwrap(await measureNetworkSpeeds(models));
  const [int8, light] = evaluationsPerSecond;
  assert.equal(evaluationsPerSecond.length, 2);
  assert.ok(int8 > 0 && light < 1e6, evaluationsPerSecond.join(', '));
  // On a machine that is very busy either may be interrupted in every run.
  if (isSteady) assert.ok(light > int8, evaluationsPerSecond.join(', '));
});

test('a file that is no network is a failure, not an exception', async () => {
  const speeds = await measureNetworkSpeeds([
    readModel('light.onnx'),
    { bytes: new Uint8Array(100), name: 'zeros.onnx' },
  ]);
  assert.match(speeds.ok ? '' : speeds.error, /zeros\.onnx/);
});

/** A clock that only the tasks move: each run of a task takes the next of its times, the last one for ever. */
function createTasks(...timesMs: readonly (readonly number[])[]) {
  let clockMs = 0;
  const order: number[] = [];
  const tasks = timesMs.map((times, index) => {
    const left = [...times];
    return async (): Promise<void> => {
      order.push(index);
      clockMs += (left.length > 1 ? left.shift() : left[0]) ?? 0;
    };
  });
  return { tasks, now: () => clockMs, order };
}

test('tasks take turns, and their least times count once they are steady', async () => {
  const { tasks, now, order } = createTasks([9, 5, 4, 30, 4, 5], [3, 2, 2, 2, 2, 9]);
  assert.deepEqual(await findLeastTimes(tasks, now), { leastMs: [4, 2], isSteady: true });
  assert.deepEqual(order, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
});

test('times that only a single run reached get more rounds', async () => {
  const { tasks, now, order } = createTasks([20, 4, 6, 7, 8, 9, 10, 4.1, 12], [1]);
  assert.deepEqual(await findLeastTimes(tasks, now), { leastMs: [4, 1], isSteady: true });
  assert.equal(order.length, 16);
});

test('a busy machine ends the measurement after its time, with what was measured', async () => {
  const busy = createTasks([40, 50, 61, 75, 90], [10, 20, 30, 40, 50]);
  assert.deepEqual(await findLeastTimes(busy.tasks, busy.now), { leastMs: [40, 10], isSteady: false });
  assert.equal(busy.order.length, 6);
  const stuck = createTasks([900, 800], [100]);
  assert.deepEqual(await findLeastTimes(stuck.tasks, stuck.now), { leastMs: [800, 100], isSteady: false });
  assert.equal(stuck.order.length, 4, 'two rounds at least');
});
