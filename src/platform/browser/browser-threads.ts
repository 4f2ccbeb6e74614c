/**
 * Threads over module Workers. All of them run sardonyx.js, which is one file so that bundlers can copy it; the name of a Worker
 * says which thread it is. The first message to a Worker holds its data. A Worker reports its end and uncaught exceptions by
 * control messages, because a page is not told of them otherwise.
 */
import type { Thread, ThreadEvents, ThreadOptions } from '../platform-ports.js';

export type { Thread } from '../platform-ports.js';

/** Messages of this file, beside those of its callers. */
interface ControlMessage {
  readonly sardonyxThread: 'start' | 'end' | 'error';
  readonly data?: unknown;
  readonly assets?: PageAssets;
  readonly message?: string;
}

/** scripts/build-web.mjs writes such URLs in place of those of files. */
const THREAD_PROTOCOL = 'thread:';

/** Which thread this is, as the URL of its script says; null in a page and in the Worker that speaks UCI. */
export function findThreadName(): string | null {
  const { name } = globalThis;
  return name.startsWith(THREAD_PROTOCOL) ? name.slice(THREAD_PROTOCOL.length) : null;
}

export function startThread<ToThread, FromThread>(
  script: URL,
  { name, data }: ThreadOptions,
  events: ThreadEvents<FromThread>,
): Thread<ToThread> {
  const isOurs = script.protocol === THREAD_PROTOCOL;
  const options = isOurs ? { name: script.href } : name === undefined ? {} : { name };
  const worker = new Worker(isOurs ? getAssets().script : script, { type: 'module', ...options });
  let tellEnd: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    tellEnd = resolve;
  });
  const fail = (message: string): void => {
    events.onError?.(new Error(message));
    worker.terminate();
    tellEnd();
  };
  worker.onmessage = ({ data: message }: MessageEvent<unknown>) => {
    if (!isControl(message)) events.onMessage(message as FromThread);
    else if (message.sardonyxThread === 'end') tellEnd();
    else fail(message.message ?? 'unknown error');
  };
  worker.onerror = (event) => {
    event.preventDefault();
    fail(event.message || `the script ${isOurs ? getAssets().script : script.href} cannot be loaded`);
  };
  const start: ControlMessage = { sardonyxThread: 'start', data, assets: getAssets() };
  worker.postMessage(start);
  return {
    ended,
    post: (message) => worker.postMessage(message),
    keepProcessAlive: () => undefined,
    terminate: async () => {
      worker.terminate();
      tellEnd();
    },
  };
}

let receiveData: (data: unknown) => void = () => undefined;
const threadData = new Promise<unknown>((resolve) => {
  receiveData = resolve;
});
let isThread = false;
let handler: ((message: unknown) => void) | null = null;
const early: unknown[] = [];

// Must listen before anything else in the thread runs. In the page's own scripts no such message ever arrives.
globalThis.addEventListener?.('message', ({ data: message }: MessageEvent<unknown>) => {
  if (isControl(message)) {
    isThread = true;
    takeAssets(message.assets ?? {});
    receiveData(message.data);
  } else if (handler !== null) {
    handler(message);
  } else if (isThread) {
    early.push(message);
  }
});

globalThis.addEventListener?.('unhandledrejection', (event) => {
  if (!isThread) return;
  event.preventDefault();
  const { reason } = event as PromiseRejectionEvent;
  const message = reason instanceof Error ? reason.message : String(reason);
  postToParent({ sardonyxThread: 'error', message } satisfies ControlMessage);
});

export function getThreadData<Data>(): Promise<Data> {
  return threadData as Promise<Data>;
}

export function postToParent(message: unknown): void {
  globalThis.postMessage(message);
}

export function onParentMessage<ToThread>(handle: (message: ToThread) => void): void {
  handler = (message) => handle(message as ToThread);
  for (const message of early.splice(0)) handle(message as ToThread);
}

export function endThread(): void {
  if (!isThread) return;
  postToParent({ sardonyxThread: 'end' } satisfies ControlMessage);
  globalThis.close();
}

const turns: (() => void)[] = [];
let turnPort: MessagePort | null = null;

export function runNextTurn(work: () => void): void {
  turns.push(work);
  turnPort ??= openTurnPort();
  turnPort.postMessage(null);
}

/** Opened when it is first needed: a server that renders a page imports this file, and an open port would keep its process alive. */
function openTurnPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => turns.shift()?.();
  return port2;
}

export function nextTurn(): Promise<void> {
  return new Promise(runNextTurn);
}

export function repeatEvery(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds);
  return () => clearInterval(timer);
}

function isControl(message: unknown): message is ControlMessage {
  return typeof message === 'object' && message !== null && 'sardonyxThread' in message;
}

// The addresses of the files beside the scripts of dist/web. Each is written out as `new URL('./file', import.meta.url)`, because
// bundlers look for this form, copy the file and insert its new address. They rewrite the page's script only, so each thread
// gets the page's addresses with its first message.

export interface PageAssets {
  /** sardonyx.js: the Worker that speaks UCI, and the script of every thread. */
  readonly script: string;
  /** ONNX Runtime without devices; 14 MB. */
  readonly wasm: string;
  /** ONNX Runtime with WebGPU; 27 MB. */
  readonly webgpu: string;
}

let assets: PageAssets = {
  script: new URL('./sardonyx.js', import.meta.url).href,
  wasm: new URL('./ort/ort-wasm-simd-threaded.wasm', import.meta.url).href,
  webgpu: new URL('./ort/ort-wasm-simd-threaded.asyncify.wasm', import.meta.url).href,
};

/** The addresses that `takeAssets` was given; before that, those in dist/web, relative to the running script. */
export function getAssets(): PageAssets {
  return assets;
}

/** Call it before anything is loaded. */
export function takeAssets(given: Partial<PageAssets>): void {
  assets = { ...assets, ...given };
}
