/**
 * Keeps `process.exit` from aborting the process. If Node ends a thread while it is inside onnxruntime, onnxruntime-node throws
 * an exception that nothing can catch, and the process aborts with status 134. So calls are counted in shared memory. When the process
 * exits, no thread may begin another call, and the main thread waits for those that have begun: until they have computed for longer
 * than a batch takes, or have done nothing for seconds. Then it kills the process, because Node would wait for their threads for ever.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

export { isMainThread } from 'node:worker_threads';

const ENVIRONMENT_KEY = 'sardonyx.native-calls';

/** Words of the shared memory. */
const CALLS = 0;
const IS_EXITING = 1;
const WORDS = 2;

/** Time of the processor that each call gets, which does not depend on what else the machine does. */
const CPU_MS_PER_CALL = 500;
/** A device may hang. */
const LONGEST_WAIT_MS = 5_000;
const STEP_MS = 20;

let words: Int32Array | undefined;

/** Creates the shared memory. Call it on the main thread before starting threads that use onnxruntime. */
export function shareNativeCalls(): void {
  if (getEnvironmentData(ENVIRONMENT_KEY) !== undefined) return;
  setEnvironmentData(ENVIRONMENT_KEY, new SharedArrayBuffer(4 * WORDS));
  process.on('exit', waitForNativeCalls);
}

/** Does `work`, which calls onnxruntime. While the process exits, it rejects at once. */
export async function callNative<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const shared = findWords();
  Atomics.add(shared, CALLS, 1);
  try {
    if (Atomics.load(shared, IS_EXITING) === 1) throw new Error('the process is ending');
    return await work();
  } finally {
    leave(shared);
  }
}

function leave(shared: Int32Array): void {
  Atomics.sub(shared, CALLS, 1);
  Atomics.notify(shared, CALLS);
}

function waitForNativeCalls(): void {
  const shared = findWords();
  Atomics.store(shared, IS_EXITING, 1);
  const end = performance.now() + LONGEST_WAIT_MS;
  const before = process.cpuUsage();
  const mostCpuMs = CPU_MS_PER_CALL * Atomics.load(shared, CALLS);
  for (;;) {
    const calls = Atomics.load(shared, CALLS);
    if (calls === 0) return;
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 > mostCpuMs || performance.now() > end) process.kill(process.pid, 'SIGKILL');
    Atomics.wait(shared, CALLS, calls, STEP_MS);
  }
}

function findWords(): Int32Array {
  shareNativeCalls();
  words ??= new Int32Array(getEnvironmentData(ENVIRONMENT_KEY) as SharedArrayBuffer);
  return words;
}
