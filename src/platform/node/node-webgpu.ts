/**
 * WebGPU in onnxruntime-node 1.30 is one context for the whole process, and nothing in it is locked: two threads that create
 * sessions or run them at the same time end the process with a segmentation fault. When the last session is released the context goes with
 * it, and the third context of a process hangs in its first run. So all calls of all threads take turns, over a word of shared
 * memory, and the first thread opens a session of a model of one node that nobody releases.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const ENVIRONMENT_KEY = 'sardonyx.webgpu';

/** Words of the shared memory. */
const LOCK = 0;
const HAS_KEEPER = 1;
const WORDS = 2;

/** Identity on one float, opset 17. */
const SMALLEST_MODEL = 'CAgSADo3ChAKAXgSAXkiCElkZW50aXR5EgFnWg8KAXgSCgoICAESBAoCCAFiDwoBeRIKCggIARIECgIIAUIECgAQEQ==';

let words: Int32Array | undefined;
/** The last turn that this thread has asked for. */
let lastTurn: Promise<unknown> = Promise.resolve();

/** Main thread, before threads that use WebGPU are started: they inherit the shared memory. */
export function shareWebGpuTurns(): void {
  if (getEnvironmentData(ENVIRONMENT_KEY) !== undefined) return;
  setEnvironmentData(ENVIRONMENT_KEY, new SharedArrayBuffer(4 * WORDS));
}

/** Does `work` while no other thread of the process is in WebGPU; blocks this thread until it is its turn. */
export function takeWebGpuTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const turn = lastTurn.then(async () => {
    const shared = findWords();
    while (Atomics.compareExchange(shared, LOCK, 0, 1) !== 0) Atomics.wait(shared, LOCK, 1);
    try {
      return await work();
    } finally {
      Atomics.store(shared, LOCK, 0);
      Atomics.notify(shared, LOCK, 1);
    }
  });
  lastTurn = turn.catch(() => undefined);
  return turn;
}

/**
 * Within a turn, before a session is opened: opens the session that keeps the context, if the process has none yet.
 * @param open opens a model on WebGPU
 */
export async function keepWebGpuContext(open: (model: Uint8Array) => Promise<unknown>): Promise<void> {
  const shared = findWords();
  if (shared[HAS_KEEPER] === 1) return;
  await open(Buffer.from(SMALLEST_MODEL, 'base64'));
  shared[HAS_KEEPER] = 1;
}

function findWords(): Int32Array {
  shareWebGpuTurns();
  words ??= new Int32Array(getEnvironmentData(ENVIRONMENT_KEY) as unknown as SharedArrayBuffer);
  return words;
}
