import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/util/index.js';

test('a generator that is restarted goes on as a new one of that seed', () => {
  const random = createPrng(1);
  const draw = (): number[] => Array.from({ length: 5 }, () => random.next32());
  const first = draw();
  random.restart(2);
  const second = draw();
  assert.notDeepEqual(second, first);
  random.restart(1);
  assert.deepEqual(draw(), first);
  const other = createPrng(2);
  assert.deepEqual(
    second,
    second.map(() => other.next32()),
  );
});
