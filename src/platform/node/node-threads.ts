/** Threads over node:worker_threads. In a packed executable the scripts of threads are its assets. */
import { setImmediate as waitForImmediate } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Thread, ThreadEvents, ThreadOptions } from '../platform-ports.js';
import { readProgramFile } from './node-program-files.js';

export { isMainThread } from 'node:worker_threads';
export type { Thread, ThreadEvents } from '../platform-ports.js';

/** scripts/package/bundle.mjs writes such URLs in place of those of files. */
const ASSET_PROTOCOL = 'asset:';

export function startThread<ToThread, FromThread>(
  script: URL,
  { name, data }: ThreadOptions,
  events: ThreadEvents<FromThread>,
): Thread<ToThread> {
  // A thread inherits the flags of its program otherwise, and refuses some of them, as `--input-type` beside `--eval`.
  const options = { ...(name === undefined ? {} : { name }), workerData: data, execArgv: [] };
  const worker =
    script.protocol === ASSET_PROTOCOL
      ? new Worker(readAsset(script.pathname), { ...options, eval: true })
      : new Worker(script, options);
  worker.on('message', (message: FromThread) => events.onMessage(message));
  worker.on('error', (error: unknown) => {
    events.onError?.(error instanceof Error ? error : new Error(String(error)));
  });
  const ended = new Promise<void>((resolve) => worker.on('exit', () => resolve()));
  return {
    ended,
    post: (message) => worker.postMessage(message),
    keepProcessAlive: (does) => {
      if (does) worker.ref();
      else worker.unref();
    },
    terminate: async () => {
      await worker.terminate();
    },
  };
}

export async function getThreadData<Data>(): Promise<Data> {
  return workerData as Data;
}

export function postToParent(message: unknown): void {
  parentPort?.postMessage(message);
}

export function onParentMessage<ToThread>(handle: (message: ToThread) => void): void {
  parentPort?.on('message', handle);
}

export function endThread(): void {
  parentPort?.unref();
}

export function runNextTurn(work: () => void): void {
  setImmediate(work);
}

export function nextTurn(): Promise<void> {
  return waitForImmediate();
}

export function repeatEvery(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

function readAsset(name: string): string {
  const code = readProgramFile(name);
  if (code === null) throw new Error(`This executable was packed without ${name}`);
  return new TextDecoder().decode(code);
}
