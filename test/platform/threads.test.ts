import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as threads from '#platform/threads.js';
import type { ThreadPort } from '#sardonyx/platform/platform-ports.js';

const port: ThreadPort = threads;
const script = new URL('../support/echo-thread.js', import.meta.url);

test('a thread has its data, answers messages that came before it listened, and ends when told to', async () => {
  const answers: unknown[] = [];
  const thread = port.startThread<string, unknown>(
    script,
    { name: 'echo', data: 7 },
    { onMessage: (a) => answers.push(a) },
  );
  for (const text of ['a', 'b', 'end']) thread.post(text);
  await thread.ended;
  assert.deepEqual(answers, [7, 'a', 'b']);
});

test('a thread that throws reports its exception, then its end', async () => {
  const events: string[] = [];
  const thread = port.startThread<string, unknown>(
    script,
    {},
    { onMessage: () => undefined, onError: ({ message }) => events.push(message) },
  );
  thread.post('throw');
  await thread.ended;
  assert.deepEqual(events, ['told to throw']);
});

test('a thread is terminated in the middle of a computation', async () => {
  let startSpinning: () => void;
  const spins = new Promise<void>((resolve) => {
    startSpinning = resolve;
  });
  const onMessage = (message: unknown): void => (message === 'spinning' ? startSpinning() : thread.post('spin'));
  const thread = port.startThread<string, unknown>(script, {}, { onMessage });
  await spins;
  await thread.terminate();
  await thread.ended;
});
