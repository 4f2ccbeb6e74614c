/**
 * Threads over module Workers. All of them run sardonyx.js, which is one file so that bundlers can copy it; the name of a Worker
 * says which thread it is. The first message to a Worker holds its data. A Worker reports its start, its end and uncaught
 * exceptions by control messages, because a page is not told of them otherwise: where several Workers are made at once, Firefox
 * sometimes never asks for the script of one, and fires no error. Such a Worker is made anew.
 */
import type { Thread, ThreadEvents, ThreadOptions } from '../platform-ports.js';

export type { Thread, ThreadEvents } from '../platform-ports.js';

/** Messages of this file, beside those of its callers. */
interface ControlMessage {
  readonly sardonyxThread: 'start' | 'here' | 'end' | 'error';
  readonly data?: unknown;
  readonly assets?: PageAssets;
  readonly message?: string;
}

/** scripts/build-web.mjs writes such URLs in place of those of files. */
const THREAD_PROTOCOL = 'thread:';

/** So long a Worker may say nothing, counted from its making or from the last part of its script. */
const LONGEST_SILENCE_S = 8;
const MOST_WORKERS = 4;

/** Which thread this is, as its starter says; null in a page and in the Worker that speaks UCI. */
export function findThreadName(): string | null {
  const { name } = globalThis as { readonly name?: string };
  return name?.startsWith(THREAD_PROTOCOL) ? name.slice(THREAD_PROTOCOL.length) : null;
}

export function startThread<ToThread, FromThread>(
  script: URL,
  { name, data }: ThreadOptions,
  events: ThreadEvents<FromThread>,
): Thread<ToThread> {
  const isOurs = script.protocol === THREAD_PROTOCOL;
  const address = isOurs ? getAssets().script : script.href;
  const start: ControlMessage = { sardonyxThread: 'start', data, ...(isOurs && { assets: getAssets() }) };
  /** Until the Worker has said something; then null. */
  let unsent: unknown[] | null = [start];
  let endWorker: () => void = () => undefined;
  let tellEnd: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    tellEnd = resolve;
  });
  const terminate = (): void => {
    endWorker();
    tellEnd();
  };
  const fail = (message: string): void => {
    events.onError?.(new Error(message));
    terminate();
  };
  const make = (number: number): Worker => {
    const worker = new Worker(address, {
      type: 'module',
      name: isOurs ? script.href : THREAD_PROTOCOL + (name ?? ''),
    });
    const endSilence = expectWord(address, () => {
      if (number === MOST_WORKERS) return fail(`the browser has started none of ${MOST_WORKERS} Workers`);
      endWorker();
      current = make(number + 1);
    });
    endWorker = () => {
      endSilence();
      worker.onmessage = null;
      worker.onerror = null;
      worker.terminate();
    };
    worker.onmessage = ({ data: message }: MessageEvent<unknown>) => {
      endSilence();
      for (const early of unsent ?? []) worker.postMessage(early);
      unsent = null;
      if (!isControl(message)) events.onMessage(message as FromThread);
      else if (message.sardonyxThread === 'end') tellEnd();
      else if (message.sardonyxThread === 'error') fail(message.message ?? 'unknown error');
    };
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || `the script ${address} cannot be loaded`);
    };
    return worker;
  };
  let current = make(1);
  return {
    ended,
    post: (message) => {
      if (unsent === null) current.postMessage(message);
      else unsent.push(message);
    },
    keepProcessAlive: () => undefined,
    terminate: async () => terminate(),
  };
}

/** What starts the count of each silent Worker again. */
const silent = new Set<() => void>();
let isProbing = false;

/**
 * Calls `giveUp` after too long a silence. Seconds in which this thread is busy or asleep do not count, nor those in which the
 * script is on its way: after the first one this thread downloads it too.
 * @returns ends it
 */
function expectWord(address: string, giveUp: () => void): () => void {
  let seconds = 0;
  const restart = (): void => {
    seconds = 1;
  };
  const end = (): void => {
    clearTimeout(timer);
    silent.delete(restart);
  };
  const tick = (): void => {
    seconds++;
    if (seconds === 1) void probe(address);
    if (seconds < LONGEST_SILENCE_S) {
      timer = setTimeout(tick, 1000);
      return;
    }
    end();
    giveUp();
  };
  let timer = setTimeout(tick, 1000);
  silent.add(restart);
  return end;
}

/** Downloads a script for its progress alone. */
async function probe(address: string): Promise<void> {
  if (isProbing) return;
  isProbing = true;
  try {
    const reader = (await fetch(address)).body?.getReader();
    while ((await reader?.read())?.done === false) for (const restart of silent) restart();
  } catch {
    // The Worker itself reports why its script cannot be had.
  }
  isProbing = false;
}

let receiveData: (data: unknown) => void = () => undefined;
const threadData = new Promise<unknown>((resolve) => {
  receiveData = resolve;
});
const isThread = findThreadName() !== null;
let handler: ((message: unknown) => void) | null = null;
const early: unknown[] = [];

if (isThread) {
  // Must listen before anything else in the thread runs.
  globalThis.addEventListener('message', ({ data: message }: MessageEvent<unknown>) => {
    if (isControl(message)) {
      takeAssets(message.assets ?? {});
      receiveData(message.data);
    } else if (handler !== null) {
      handler(message);
    } else {
      early.push(message);
    }
  });
  globalThis.addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    const { reason } = event as PromiseRejectionEvent;
    const message = reason instanceof Error ? reason.message : String(reason);
    postToParent({ sardonyxThread: 'error', message } satisfies ControlMessage);
  });
  postToParent({ sardonyxThread: 'here' } satisfies ControlMessage);
}

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
