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

/** A run of a task; `processorMs` is `wallMs` when left out. */
interface Run {
  readonly wallMs: number;
  readonly processorMs?: number;
}

/** A clock that only the tasks move: each run of a task takes the next of its times, the last one for ever. */
function createTasks(runsOfTasks: readonly (readonly (number | Run)[])[], isExact = true) {
  let wallMs = 0;
  let processorMs = 0;
  const order: number[] = [];
  const tasks = runsOfTasks.map((runs, index) => {
    const left = [...runs];
    return async (): Promise<void> => {
      order.push(index);
      const next = (left.length > 1 ? left.shift() : left[0]) ?? 0;
      const run: Run = typeof next === 'number' ? { wallMs: next } : next;
      wallMs += run.wallMs;
      processorMs += run.processorMs ?? run.wallMs;
    };
  });
  const clock = { getWallMs: () => wallMs, getProcessorMs: () => (isExact ? processorMs : null) };
  return { tasks, clock, order };
}

test('tasks take turns of three runs, and their least times count once they are steady', async () => {
  const { tasks, clock, order } = createTasks([
    [9, 5, 4, 30, 4, 5],
    [3, 2, 2, 2, 2, 9],
  ]);
  assert.deepEqual(await findLeastTimes(tasks, clock), { leastMs: [4, 2], isSteady: true });
  assert.deepEqual(order.join(''), '000111000111000111');
});

test('times that only a single run reached get more rounds', async () => {
  const { tasks, clock, order } = createTasks([[20, 4, 6, 7, 8, 9, 6, 6, 6, 4.1, 12], [1]]);
  assert.deepEqual(await findLeastTimes(tasks, clock), { leastMs: [4, 1], isSteady: true });
  assert.equal(order.length, 24);
});

test('slow networks and a busy machine end the measurement after its time, with what was measured', async () => {
  const slow = createTasks([[25, 20, 22], [10]]);
  assert.deepEqual(await findLeastTimes(slow.tasks, slow.clock), { leastMs: [20, 10], isSteady: false });
  assert.equal(slow.order.length, 12);
  const pause = { wallMs: 100 };
  const busy = createTasks([
    [5, 7, 9, 11].map((processorMs) => ({ ...pause, processorMs })),
    [2, 3, 4, 5].map((processorMs) => ({ ...pause, processorMs })),
  ]);
  assert.deepEqual(await findLeastTimes(busy.tasks, busy.clock), { leastMs: [5, 2], isSteady: false });
  assert.equal(busy.order.length, 6);
});

test('a run that was interrupted counts with its processor time, one beside other threads with its wall time', async () => {
  const interrupted = { wallMs: 13, processorMs: 4 };
  const accompanied = { wallMs: 1, processorMs: 1.9 };
  const busy = createTasks([[interrupted], [accompanied]]);
  assert.deepEqual(await findLeastTimes(busy.tasks, busy.clock), { leastMs: [4, 1], isSteady: true });
  const { tasks, clock } = createTasks([[interrupted], [accompanied]], false);
  assert.deepEqual(await findLeastTimes(tasks, clock), { leastMs: [13, 1], isSteady: true }, 'where it is not known');
});
