/** Threads of pages, on Workers that the test makes up. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { rolldown } from 'rolldown';
import type * as pageThreads from '#sardonyx/platform/browser/browser-threads.js';
import { repositoryRoot } from '../support/shared-folder.js';

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-threads-'));
const bundle = await rolldown({ input: join(repositoryRoot, 'src/platform/browser/browser-threads.ts') });
await bundle.write({ file: join(scratch, 'threads.mjs') });
const { startThread } = (await import(join(scratch, 'threads.mjs'))) as typeof pageThreads;
rmSync(scratch, { recursive: true });

class FakeWorker {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: object) => void) | null = null;
  readonly received: unknown[] = [];
  isTerminated = false;

  constructor() {
    made.push(this);
  }

  postMessage(message: unknown): void {
    this.received.push(message);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  say(data: unknown): void {
    this.onmessage?.({ data });
  }
}

let made: FakeWorker[] = [];
const script = new URL('https://example.org/x-worker.js');

/** Starts a thread and sends it a message. What its Worker says, and its errors, are in `events`. */
function start(fetchScript: () => Promise<unknown>) {
  mock.reset();
  made = [];
  mock.timers.enable({ apis: ['setTimeout'] });
  Object.assign(globalThis, { Worker: FakeWorker });
  mock.method(globalThis, 'fetch', fetchScript);
  const events: unknown[] = [];
  const onError = ({ message }: Error): void => void events.push(message);
  const thread = startThread<string, unknown>(script, { data: 7 }, { onMessage: (said) => events.push(said), onError });
  thread.post('early');
  return { thread, events };
}

async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) {
    mock.timers.tick(1000);
    await new Promise(setImmediate);
  }
}

const unreachable = (): Promise<never> => Promise.reject(new TypeError('no answer'));
const DATA = { sardonyxThread: 'start', data: 7 };

for (const silent of [0, 1, 2, 3]) {
  test(`after ${silent} silent Workers the next one gets every message, once`, async () => {
    const { thread, events } = start(unreachable);
    await pass(8 * silent);
    assert.equal(made.length, silent + 1);
    const worker = made[silent];
    assert.deepEqual(worker.received, []);
    worker.say({ sardonyxThread: 'here' });
    thread.post('late');
    assert.deepEqual(worker.received, [DATA, 'early', 'late']);
    worker.say('answer');
    await pass(100);
    for (const earlier of made.slice(0, -1)) {
      assert.ok(earlier.isTerminated);
      earlier.say('too late');
    }
    assert.deepEqual(events, ['answer']);
    assert.equal(made.length, silent + 1);
    await thread.terminate();
    await thread.ended;
    assert.ok(worker.isTerminated);
  });
}

test('four silent Workers end the thread with one error', async () => {
  const { thread, events } = start(unreachable);
  await pass(100);
  await thread.ended;
  assert.deepEqual(events, ['the browser has started none of 4 Workers']);
  assert.deepEqual(
    made.map(({ isTerminated }) => isTerminated),
    [true, true, true, true],
  );
});

test('a thread that is terminated early makes no other Worker', async () => {
  const { thread, events } = start(unreachable);
  await pass(3);
  await thread.terminate();
  await thread.ended;
  await pass(100);
  assert.deepEqual([made.length, events], [1, []]);
});

test('while parts of its script arrive a Worker is not silent', async () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
  });
  const { thread } = start(async () => new Response(body));
  for (let part = 0; part < 10; part++) {
    await pass(5);
    (controller as ReadableStreamDefaultController<Uint8Array> | null)?.enqueue(new Uint8Array(9));
  }
  await pass(1);
  assert.equal(made.length, 1);
  await pass(8);
  assert.equal(made.length, 2);
  await thread.terminate();
});
