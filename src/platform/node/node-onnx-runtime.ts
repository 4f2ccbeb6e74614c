/**
 * ONNX Runtime over onnxruntime-node. Loading its library takes a tenth of a second, so it is loaded with the first session. Two
 * of its faults are dealt with here: threads that end inside it, and WebGPU's one context.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import type { NamedTensors, RuntimeSession, RuntimeTensor, SessionRequest } from '../platform-ports.js';
import { getNativeFolder, isPackaged, readProgramFile } from './node-program-files.js';

export type { NamedTensors, RuntimeSession, RuntimeTensor, SessionRequest } from '../platform-ports.js';

const OPTIMIZATION = ['disabled', 'basic', 'extended', 'all'] as const;
/** Log only fatal errors to stderr: the engine itself reports a provider that cannot be loaded. */
const LOG_FATAL = 4;

/**
 * Changes the environment, which only the main thread can: in a worker `process.env` is a copy, which libraries do not see.
 *
 * onnxruntime 1.30 for Linux and macOS collects usage data: while it loads it reads the machine's id and the command line, keeps a
 * database in `~/.cache/Microsoft`, leaves `mat-debug-<process>.log` and `.ses` in the temporary folder, and has an uploader
 * to Microsoft. A chess engine needs none of that, so it is switched off; a user's own setting stands.
 *
 * cuBLAS and cuDNN read the TF32 switch when they are loaded, so a process has one answer for all its devices.
 */
export function prepareRuntime(usesTf32: boolean): void {
  process.env.ORT_DISABLE_TELEMETRY ??= '1';
  if (!usesTf32) process.env.NVIDIA_TF32_OVERRIDE = '0';
  shareMemory();
}

export function openSession(request: SessionRequest): Promise<RuntimeSession> {
  return callNative(() => loadSession(request));
}

async function loadSession(request: SessionRequest): Promise<RuntimeSession> {
  const { env, InferenceSession, Tensor } = await import('onnxruntime-node');
  env.logLevel = 'fatal';
  // onnxruntime does not accept shared memory.
  const model = request.model.buffer instanceof SharedArrayBuffer ? request.model.slice() : request.model;
  const options: InferenceSession.SessionOptions = {
    executionProviders: [request.provider as InferenceSession.ExecutionProviderConfig],
    intraOpNumThreads: request.intraOpThreads,
    interOpNumThreads: 1,
    graphOptimizationLevel: OPTIMIZATION[request.optimization],
    logSeverityLevel: LOG_FATAL,
    extra: { session: describeExtras(request) },
  };
  const needsTurns = request.provider.name === 'webgpu';
  const create = (bytes = model): Promise<InferenceSession> => InferenceSession.create(bytes, options);
  const session = needsTurns
    ? await takeWebGpuTurn(async () => {
        await keepWebGpuContext(create);
        return create();
      })
    : await create();
  const run = (inputs: NamedTensors, outputs: Readonly<Record<string, RuntimeTensor | null>>): Promise<unknown> =>
    callNative(() => session.run(inputs as InferenceSession.FeedsType, outputs as InferenceSession.FetchesType));
  const release = (): Promise<void> => callNative(() => session.release());
  return {
    outputNames: session.outputNames,
    outputShapes: session.outputMetadata.map((output) => (output.isTensor ? output.shape : [])),
    createTensor: (data, dims) =>
      data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('float16', data, dims),
    run: needsTurns ? (inputs, outputs) => takeWebGpuTurn(() => run(inputs, outputs)) : run,
    release: needsTurns ? () => takeWebGpuTurn(release) : release,
  };
}

function describeExtras({ weightsFolder, needsWideSums }: SessionRequest): Record<string, string> {
  return {
    ...(weightsFolder === undefined ? {} : { model_external_initializers_file_folder_path: weightsFolder }),
    ...(needsWideSums ? { x64quantprecision: '1' } : {}),
  };
}

export function findRuntime(_provider: string): null {
  return null;
}

/** onnxruntime loads a provider from the folder of its own library; `doctor --install-cuda` puts it there. An empty file is none. */
export function hasCudaProvider(): boolean {
  const files: Partial<Record<NodeJS.Platform, string>> = {
    linux: 'libonnxruntime_providers_cuda.so',
    win32: 'onnxruntime_providers_cuda.dll',
  };
  const file = files[process.platform];
  if (file === undefined) return false;
  try {
    return statSync(join(getNativeFolder(), file)).size > 0;
  } catch {
    // The file is missing. If the folder is missing too, the evaluators fail and report it.
    return false;
  }
}

export interface RuntimeInfo {
  readonly version: string;
  /** Where its native files lie, and where a provider is looked for. */
  readonly folder: string;
  /** The providers compiled in, by onnxruntime's names; `isBundled`: their files came with onnxruntime. */
  readonly providers: readonly { readonly name: string; readonly isBundled: boolean }[];
}

/** Loads onnxruntime; rejects when it cannot be loaded. */
export async function describeRuntime(): Promise<RuntimeInfo> {
  prepareRuntime(true);
  const folder = getNativeFolder();
  const { env, listSupportedBackends } = await import('onnxruntime-node');
  const providers = listSupportedBackends().map(({ name, bundled }) => ({ name, isBundled: bundled }));
  return { version: env.versions.node ?? 'of unknown version', folder, providers };
}

/** Without loading it. */
export function readRuntimeVersion(): string {
  const manifest: unknown = isPackaged
    ? JSON.parse(Buffer.from(readProgramFile('native/files.json') ?? []).toString('utf8') || '{}')
    : createRequire(import.meta.url)('onnxruntime-node/package.json');
  return String((manifest as { version?: unknown }).version ?? 'of unknown version');
}

// Two faults of onnxruntime-node 1.30 concern all threads of the process, which deal with them through a block of shared memory.

const ENVIRONMENT_KEY = 'sardonyx.onnxruntime';

/** Words of the shared memory. */
const CALLS = 0;
const IS_EXITING = 1;
const WEBGPU_LOCK = 2;
const HAS_WEBGPU_KEEPER = 3;
const WORDS = 4;

let words: Int32Array | undefined;
/** Calls of this thread, which are not inside onnxruntime while the thread does anything else. */
let ownCalls = 0;

/** Creates the shared memory. The main thread does it before it starts threads that use onnxruntime. */
function shareMemory(): void {
  if (getEnvironmentData(ENVIRONMENT_KEY) !== undefined) return;
  setEnvironmentData(ENVIRONMENT_KEY, new SharedArrayBuffer(4 * WORDS));
  process.on('exit', waitForNativeCalls);
}

function findWords(): Int32Array {
  shareMemory();
  words ??= new Int32Array(getEnvironmentData(ENVIRONMENT_KEY) as SharedArrayBuffer);
  return words;
}

// If Node ends a thread while it is inside onnxruntime, onnxruntime-node throws an exception that nothing can catch, and the process
// aborts with status 134. So calls are counted. When the process exits, no thread may begin another call, and the main thread waits
// for those of others that have begun: until they have computed for longer than a batch takes, or have done nothing for seconds. Then it
// kills the process, because Node would wait for their threads for ever.

/** Time of the processor that each call gets, which does not depend on what else the machine does. */
const CPU_MS_PER_CALL = 500;
/** A device may hang. */
const LONGEST_WAIT_MS = 5_000;
const STEP_MS = 20;

/** Does `work`, which calls onnxruntime. While the process exits, it rejects at once. */
export async function callNative<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const shared = findWords();
  Atomics.add(shared, CALLS, 1);
  ownCalls++;
  try {
    if (Atomics.load(shared, IS_EXITING) === 1) throw new Error('the process is ending');
    return await work();
  } finally {
    ownCalls--;
    Atomics.sub(shared, CALLS, 1);
    Atomics.notify(shared, CALLS);
  }
}

function waitForNativeCalls(): void {
  const shared = findWords();
  Atomics.store(shared, IS_EXITING, 1);
  const end = performance.now() + LONGEST_WAIT_MS;
  const before = process.cpuUsage();
  const mostCpuMs = CPU_MS_PER_CALL * (Atomics.load(shared, CALLS) - ownCalls);
  for (;;) {
    const calls = Atomics.load(shared, CALLS);
    if (calls === ownCalls) return;
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 > mostCpuMs || performance.now() > end) process.kill(process.pid, 'SIGKILL');
    Atomics.wait(shared, CALLS, calls, STEP_MS);
  }
}

// WebGPU has one context for the whole process. The context has no locks: if two threads create or run sessions at the same time,
// the process dies of a segmentation fault. So all calls of all threads take turns, by a lock. And the context is destroyed
// with the last session, but the third context of a process hangs in its first run. So the first thread opens a session of a
// one-node model that is never released.

/** Identity on one float, opset 17. */
const SMALLEST_MODEL = 'CAgSADo3ChAKAXgSAXkiCElkZW50aXR5EgFnWg8KAXgSCgoICAESBAoCCAFiDwoBeRIKCggIARIECgIIAUIECgAQEQ==';

/** The last turn that this thread has asked for. */
let lastTurn: Promise<unknown> = Promise.resolve();

/** Does `work` while no other thread of the process is in WebGPU; blocks this thread until it is its turn. */
function takeWebGpuTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const turn = lastTurn.then(async () => {
    const shared = findWords();
    while (Atomics.compareExchange(shared, WEBGPU_LOCK, 0, 1) !== 0) Atomics.wait(shared, WEBGPU_LOCK, 1);
    try {
      return await work();
    } finally {
      Atomics.store(shared, WEBGPU_LOCK, 0);
      Atomics.notify(shared, WEBGPU_LOCK, 1);
    }
  });
  lastTurn = turn.catch(() => undefined);
  return turn;
}

/**
 * Opens the session that keeps the context alive, unless the process has one. Call it within a turn, before opening a session.
 * @param open opens a model on WebGPU
 */
async function keepWebGpuContext(open: (model: Uint8Array) => Promise<unknown>): Promise<void> {
  const shared = findWords();
  if (shared[HAS_WEBGPU_KEEPER] === 1) return;
  await open(Buffer.from(SMALLEST_MODEL, 'base64'));
  shared[HAS_WEBGPU_KEEPER] = 1;
}
