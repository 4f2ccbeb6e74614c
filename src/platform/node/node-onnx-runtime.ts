/** ONNX Runtime over onnxruntime-node. Loading its library takes a tenth of a second, so it is loaded with the first session. */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import type { NamedTensors, RuntimeSession, RuntimeTensor, SessionRequest } from '../platform-ports.js';
import { callNative, shareNativeCalls } from './node-native-calls.js';
import { getNativeFolder } from './node-native-folder.js';
import { isPackaged, readProgramFile } from './node-program-files.js';

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
  shareWebGpuTurns();
  shareNativeCalls();
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

// Two faults of WebGPU in onnxruntime-node 1.30, which has one context for the whole process. The context has no locks: if two
// threads create or run sessions at the same time, the process dies of a segmentation fault. So all calls of all threads take
// turns, by a lock in shared memory. And the context is destroyed with the last session, but the third context of a process hangs
// in its first run. So the first thread opens a session of a one-node model that is never released.

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
