/**
 * Works around two faults of WebGPU in onnxruntime-node 1.30, which has one context for the whole process. The context has no
 * locks: if two threads create or run sessions at the same time, the process dies of a segmentation fault. So all calls of all
 * threads take turns, by a lock in shared memory. And the context is destroyed with the last session, but the third context of a
 * process hangs in its first run. So the first thread opens a session of a one-node model that is never released.
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

/** Creates the shared memory. Call it on the main thread before starting threads that use WebGPU. */
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
 * Opens the session that keeps the context alive, unless the process has one. Call it within a turn, before opening a session.
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
  words ??= new Int32Array(getEnvironmentData(ENVIRONMENT_KEY) as SharedArrayBuffer);
  return words;
}
