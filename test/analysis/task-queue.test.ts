import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskQueue } from '#sardonyx/analysis/analysis-run.js';
import type { PositionTask } from '#sardonyx/analysis/parse-query.js';
import { createPrng } from '#sardonyx/util/index.js';
import { createTasks } from './analysis-bench.js';

const [template] = createTasks({ id: 'q' });

test('tasks leave by priority and then by age, whatever was taken out between', () => {
  const random = createPrng(7);
  const queue = new TaskQueue();
  const expected: PositionTask[] = [];
  for (let n = 0; n < 500; n++) {
    const task = { ...template, queryId: `q${n % 3}`, turnNumber: n, priority: random.nextBelow(5) };
    queue.add(task);
    expected.push(task);
  }
  const removed = queue.remove({ queryId: 'q1', turnNumbers: null });
  assert.deepEqual(
    removed,
    expected.filter(({ queryId }) => queryId === 'q1'),
  );
  const rest = expected.filter(({ queryId }) => queryId !== 'q1');
  rest.sort((a, b) => b.priority - a.priority || a.turnNumber - b.turnNumber);
  const taken: PositionTask[] = [];
  for (let task = queue.take(); task !== undefined; task = queue.take()) taken.push(task);
  assert.deepEqual(taken, rest);
  assert.equal(queue.size, 0);
});
