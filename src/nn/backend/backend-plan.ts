/**
 * From the options Backend and BackendOptions to a plan: plain data that says what each evaluator thread shall build.
 * All user mistakes (unknown backend, unknown or malformed option) end here, before a thread is started.
 */
import { availableParallelism } from 'node:os';
import { failure, type Result, success } from '../../util/index.js';
import { BACKENDS, type BackendKind, type Provider } from './backend-names.js';
import { BackendOptionError, type BackendOptions, parseBackendOptions } from './backend-options.js';
import { readNetworkChoice } from './network-choice.js';
import { hasCudaProvider } from './provider-files.js';

export interface OnnxPlan {
  readonly kind: 'onnx';
  readonly provider: Provider;
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
  /** Evaluators cannot be made. */
  readonly failLoad: boolean;
  /** run() fails after so many runs, in each thread; then the thread falls back. */
  readonly failAfter: number;
  /** What it falls back to fails as well. */
  readonly fallbackFails: boolean;
  /** The thread dies after so many runs. */
  readonly crashAfter: number;
}

const NO_FAULTS: Faults = { failLoad: false, failAfter: -1, fallbackFails: false, crashAfter: -1 };

export interface PlanRequest {
  readonly backend: string;
  /** lc0's grammar (backend-options.ts). */
  readonly optionsText: string;
  /** Evaluator threads; 0 = as many as suit the backend. */
  readonly threads: number;
  /** Positions in one network call; 0 = what suits the backend. */
  readonly minibatch: number;
}

/** @returns what to try, best first: a device is followed by the CPU. */
export function planBackend(request: PlanRequest): Result<readonly BackendPlan[]> {
  const { backend, optionsText, threads, minibatch } = request;
  const kind = BACKENDS.get(backend.toLowerCase());
  if (kind === undefined) return failure(`Unknown backend "${backend}"; known are ${[...BACKENDS.keys()].join(', ')}`);
  const options = parseBackendOptions(optionsText);
  if (!options.ok) return options;
  try {
    const faults = readFaults(options.value);
    const plans = listKinds(kind).map((one, i) =>
      createPlan(one, options.value, i === 0 ? faults : { ...NO_FAULTS, failLoad: faults.fallbackFails }),
    );
    options.value.refuseUnread(backend);
    return success(
      plans.map((plan) => ({ ...plan, threads: threads || plan.threads, minibatch: minibatch || plan.minibatch })),
    );
  } catch (error) {
    if (error instanceof BackendOptionError) return failure(error.message);
    throw error;
  }
}

/** The same network on the processor, for when a device fails in the middle of a search. */
export function planOnCpu(plan: OnnxPlan): OnnxPlan {
  return { ...plan, provider: 'cpu', devices: [0], intraOpThreads: 1, batch: 0 };
}

/** Whether a backend, as far as it can be known before it is tried, is the processor. */
export function runsOnCpu(backend: string): boolean {
  const kind = BACKENDS.get(backend.toLowerCase());
  return kind !== undefined && listKinds(kind)[0] === 'cpu';
}

function listKinds(kind: BackendKind): readonly Exclude<BackendKind, 'auto'>[] {
  if (kind === 'auto') return hasCudaProvider() ? ['cuda', 'cpu'] : ['cpu'];
  return kind === 'cpu' || kind === 'hash' || kind === 'random' || kind === 'trivial' ? [kind] : [kind, 'cpu'];
}

function readFaults(options: BackendOptions): Faults {
  return {
    failLoad: options.readFlag('fail-load', false),
    failAfter: options.readInteger('fail-after', -1, -1, 1e9),
    fallbackFails: options.readFlag('fallback-fails', false),
    crashAfter: options.readInteger('crash-after', -1, -1, 1e9),
  };
}

function createPlan(kind: Exclude<BackendKind, 'auto'>, options: BackendOptions, faults: Faults): BackendPlan {
  const cores = availableParallelism();
  const besideSearch = Math.max(1, cores - 1);
  if (kind === 'trivial') return { name: kind, evaluator: { kind }, threads: besideSearch, minibatch: 32, faults };
  if (kind === 'hash' || kind === 'random') {
    const evaluator: HashPlan = {
      kind: 'hash',
      backend: kind,
      seed: options.readInteger('seed', 0, -(2 ** 31), 2 ** 32),
      uniform: options.readFlag('uniform', false),
      delayMs: options.readInteger('delay', 0, 0, 60_000),
      cached: options.readFlag('cached', false),
    };
    return { name: kind, evaluator, threads: besideSearch, minibatch: 64, faults };
  }
  const evaluator = readOnnxPlan(kind, options);
  const isCpu = kind === 'cpu';
  return {
    name: kind,
    evaluator,
    // Two threads a device: one encodes and decodes while the device works for the other.
    threads: isCpu ? Math.max(1, Math.floor(cores / evaluator.intraOpThreads)) : 2 * evaluator.devices.length,
    minibatch: isCpu ? 8 : 256,
    faults,
  };
}

function readOnnxPlan(provider: Provider, options: BackendOptions): OnnxPlan {
  const isCpu = provider === 'cpu';
  readNetworkChoice(options);
  // These compile for one shape; lc0 gives them fixed batches too.
  const wantsFixedBatch = provider === 'dml' || provider === 'coreml';
  const devicesText = options.read('devices') ?? options.read('gpu') ?? '0';
  if (!/^\s*\d+\s*(;\s*\d+\s*)*$/.test(devicesText)) {
    throw new BackendOptionError(
      `Backend option devices must be device numbers separated by ";", not "${devicesText}"`,
    );
  }
  return {
    kind: 'onnx',
    provider,
    devices: devicesText.split(';').map(Number),
    intraOpThreads: options.readInteger('threads', isCpu ? 1 : 0, 0, 256) || 1,
    optimization: options.readInteger('optimize', 3, 0, 3),
    batch: options.readInteger('batch', wantsFixedBatch ? 16 : 0, 0, 1024),
  };
}
