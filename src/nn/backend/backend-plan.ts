/**
 * From the options Backend and BackendOptions to a plan: plain data that says what each evaluator thread shall build.
 * All user mistakes (unknown backend, unknown or malformed option) end here, before a thread is started.
 */
import { availableParallelism } from 'node:os';
import { failure, type Result, success } from '../../util/index.js';
import { BACKENDS, type BackendKind, type Provider } from './backend-names.js';
import { BackendOptionError, type BackendOptions, parseBackendOptions } from './backend-options.js';

export interface OnnxPlan {
  readonly kind: 'onnx';
  readonly provider: Provider;
  /** Chosen by `auto`: whatever fails is replaced without a warning. */
  readonly isAutomatic: boolean;
  /** Device numbers; evaluator i uses devices[i mod length]. */
  readonly devices: readonly number[];
  readonly intraOpThreads: number;
  /** onnxruntime's graph optimisation: 0 none … 3 all. */
  readonly optimization: number;
  /** Batches are padded to a multiple of this; 0: any size. */
  readonly batch: number;
}

export interface HashPlan {
  readonly kind: 'hash';
  readonly backend: string;
  readonly seed: number;
  readonly uniform: boolean;
  readonly delayMs: number;
  readonly cached: boolean;
}

export interface BackendPlan {
  /** The backend's name. */
  readonly name: string;
  readonly evaluator: OnnxPlan | HashPlan | { readonly kind: 'trivial' };
  readonly threads: number;
  readonly minibatch: number;
  readonly faults: Faults;
}

/** Failures that tests order; −1 = never. */
export interface Faults {
  /** run() fails after so many runs, in each thread; then the thread falls back. */
  readonly failAfter: number;
  /** What it falls back to fails as well. */
  readonly fallbackFails: boolean;
  /** The thread dies after so many runs. */
  readonly crashAfter: number;
}

/**
 * @param threads evaluator threads; 0 = as many as suit the backend
 * @param minibatch positions in one network call; 0 = what suits the backend
 */
export function planBackend(
  backend: string,
  optionsText: string,
  threads: number,
  minibatch: number,
): Result<BackendPlan> {
  const kind = BACKENDS.get(backend.toLowerCase());
  if (kind === undefined) return failure(`Unknown backend "${backend}"; known are ${[...BACKENDS.keys()].join(', ')}`);
  const options = parseBackendOptions(optionsText);
  if (!options.ok) return options;
  try {
    const plan = readPlan(kind, options.value);
    options.value.refuseUnread(backend);
    return success({ ...plan, threads: threads || plan.threads, minibatch: minibatch || plan.minibatch });
  } catch (error) {
    if (error instanceof BackendOptionError) return failure(error.message);
    throw error;
  }
}

function readPlan(kind: BackendKind, options: BackendOptions): BackendPlan {
  const faults: Faults = {
    failAfter: options.readInteger('fail-after', -1, -1, 1e9),
    fallbackFails: options.readFlag('fallback-fails', false),
    crashAfter: options.readInteger('crash-after', -1, -1, 1e9),
  };
  const cores = availableParallelism();
  if (kind === 'trivial')
    return { name: kind, evaluator: { kind }, threads: Math.max(1, cores - 1), minibatch: 32, faults };
  if (kind === 'hash' || kind === 'random') {
    const evaluator: HashPlan = {
      kind: 'hash',
      backend: kind,
      seed: options.readInteger('seed', 0, -(2 ** 31), 2 ** 32),
      uniform: options.readFlag('uniform', false),
      delayMs: options.readInteger('delay', 0, 0, 60_000),
      cached: options.readFlag('cached', false),
    };
    return { name: kind, evaluator, threads: Math.max(1, cores - 1), minibatch: 64, faults };
  }
  const evaluator = readOnnxPlan(kind, options);
  const isCpu = evaluator.provider === 'cpu';
  return {
    name: evaluator.provider,
    evaluator,
    // A device is kept busy while the other thread of the pair encodes and decodes.
    threads: isCpu ? Math.max(1, Math.floor(cores / evaluator.intraOpThreads)) : 2 * evaluator.devices.length,
    minibatch: isCpu ? 8 : 256,
    faults,
  };
}

function readOnnxPlan(kind: Provider | 'auto', options: BackendOptions): OnnxPlan {
  const provider = kind === 'auto' ? 'cpu' : kind;
  const isCpu = provider === 'cpu';
  // These compile for one shape; lc0 gives them fixed batches too.
  const wantsFixedBatch = provider === 'dml' || provider === 'coreml';
  const devicesText = options.read('devices') ?? options.read('gpu') ?? '0';
  const devices = devicesText.split(';').map((text) => {
    const device = Number(text);
    if (!/^\s*\d+\s*$/.test(text)) {
      throw new BackendOptionError(
        `Backend option devices must be device numbers separated by ";", not "${devicesText}"`,
      );
    }
    return device;
  });
  return {
    kind: 'onnx',
    provider,
    isAutomatic: kind === 'auto',
    devices,
    intraOpThreads: options.readInteger('threads', isCpu ? 1 : 0, 0, 256) || 1,
    optimization: options.readInteger('optimize', 3, 0, 3),
    batch: options.readInteger('batch', wantsFixedBatch ? 16 : 0, 0, 1024),
  };
}
