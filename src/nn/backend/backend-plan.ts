/**
 * From the options Backend and BackendOptions to a plan: plain data that says what each evaluator thread shall build.
 * All user mistakes (unknown backend, unknown or malformed option) end here, before a thread is started.
 */
import { getCoreCount } from '#platform/machine.js';
import { hasCudaProvider } from '#platform/onnx-runtime.js';
import { failure, type Result, success } from '../../util/index.js';
import { BACKENDS, type BackendKind, findBackend, type Provider } from './backend-names.js';
import { BackendOptionError, type BackendOptions, parseBackendOptions } from './backend-options.js';
import { type CheckPlan, findNetworkPlan, planCheck, planTeam, type TeamPlan } from './composite-plan.js';
import { type Precision, readNetworkChoice } from './network-choice.js';
import { type ProviderConfig, readProviderConfig } from './provider-config.js';

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
  /** Positions in one network call, however large the pool's minibatch is. */
  readonly mostRows: number;
  /** Smaller batches are padded to this. */
  readonly leastRows: number;
  /** Which edition of the network it runs. */
  readonly precision: Precision;
  readonly config: ProviderConfig;
}

export interface HashPlan {
  readonly kind: 'hash';
  readonly backend: string;
  readonly seed: number;
  readonly uniform: boolean;
  readonly delayMs: number;
  readonly cached: boolean;
}

/** What one evaluator is made of. */
export type SinglePlan = OnnxPlan | HashPlan | { readonly kind: 'trivial' };
export type EvaluatorPlan = SinglePlan | TeamPlan | CheckPlan;

export interface BackendPlan {
  /** The backend's name. */
  readonly name: string;
  readonly evaluator: EvaluatorPlan;
  readonly threads: number;
  readonly minibatch: number;
  /** Minibatches that a search should keep under way; 0 = one more than the threads. */
  readonly batchesInFlight: number;
  /** What the user should know about the choice; null when it is what he named. */
  readonly note: string | null;
}

/** What was measured to suit a backend. */
export interface TunedSpeed {
  readonly threads: number;
  readonly minibatch: number;
  readonly batchesInFlight: number;
}

export interface PlanRequest {
  readonly backend: string;
  /** lc0's grammar (backend-options.ts). */
  readonly optionsText: string;
  /** Evaluator threads; 0 = as many as suit the backend. */
  readonly threads: number;
  /** Positions in one network call; 0 = what suits the backend. */
  readonly minibatch: number;
  /** In place of what suits the backend where it is left open. */
  readonly tuned?: TunedSpeed | undefined;
}

/**
 * @returns what to try, best first: a device is followed by the CPU. Threads that the user asks for are threads of this
 * machine and hold for both; the minibatch, and what was tuned, are for the device alone.
 */
export function planBackend(request: PlanRequest): Result<readonly BackendPlan[]> {
  const { backend, optionsText, threads, tuned } = request;
  const minibatch = request.minibatch || tuned?.minibatch || 0;
  const found = findBackend(backend);
  if (found === undefined) return failure(`Unknown backend "${backend}"; known are ${[...BACKENDS.keys()].join(', ')}`);
  const options = parseBackendOptions(optionsText);
  if (!options.ok) return options;
  try {
    const first = createFirst(backend, found.kind, options.value, minibatch);
    options.value.refuseUnread(backend);
    const chosen = {
      ...first,
      note: found.note,
      threads: threads || tuned?.threads || first.threads,
      minibatch: minibatch || first.minibatch,
      batchesInFlight: tuned?.batchesInFlight ?? 0,
    };
    return success([chosen, ...listFallbacks(first).map((plan) => ({ ...plan, threads: threads || plan.threads }))]);
  } catch (error) {
    if (error instanceof BackendOptionError) return failure(error.message);
    throw error;
  }
}

/** Whether something other than the processor is to evaluate networks. */
export function needsDevice({ evaluator }: BackendPlan): boolean {
  const network = getNetworkPlan(evaluator);
  return network !== null && network.provider !== 'cpu';
}

/** The plan by which the network is chosen and loaded; null for evaluators without one. */
export function getNetworkPlan(evaluator: EvaluatorPlan): OnnxPlan | null {
  return findNetworkPlan(listParts(evaluator));
}

/** What takes over in a thread whose evaluator fails: the CPU instead of a device; without a network, the same once more. */
export function planReplacement(evaluator: EvaluatorPlan): SinglePlan {
  const network = getNetworkPlan(evaluator);
  return network === null ? listParts(evaluator)[0] : planOnCpu(network);
}

function listParts(evaluator: EvaluatorPlan): readonly SinglePlan[] {
  if (evaluator.kind === 'team') return evaluator.members;
  return evaluator.kind === 'check' ? [evaluator.working, evaluator.reference] : [evaluator];
}

/** The plain name of what a backend's name and options mean first: `cuda` for `auto` where CUDA is installed. */
export function getBackendName(backend: string, optionsText: string): Result<string> {
  const plans = planBackend({ backend, optionsText, threads: 0, minibatch: 0 });
  return plans.ok ? success(plans.value[0].name) : plans;
}

/** The processor in a device's place, at the start or in the middle of a search: nothing that was chosen to suit the device. */
export function planOnCpu(plan: OnnxPlan): OnnxPlan {
  const mostRows = plan.provider === 'cpu' ? plan.mostRows : getSuitableMinibatch('cpu');
  const shape = { devices: [0], intraOpThreads: 1, batch: 0, mostRows, leastRows: 1 };
  return { ...plan, ...shape, provider: 'cpu', precision: 'f32' };
}

type SingleKind = Exclude<BackendKind, 'team' | 'check'>;

function createFirst(backend: string, kind: BackendKind, options: BackendOptions, minibatch: number): BackendPlan {
  const planPart = (part: SingleKind, own: BackendOptions): BackendPlan =>
    createPlan(getFirstKind(part), own, minibatch);
  if (kind === 'team') return planTeam(backend, options, planPart);
  return kind === 'check' ? planCheck(options, planPart) : planPart(kind, options);
}

function getFirstKind(kind: SingleKind): Exclude<SingleKind, 'auto'> {
  if (kind !== 'auto') return kind;
  return hasCudaProvider() ? 'cuda' : 'cpu';
}

function listFallbacks({ evaluator }: BackendPlan): BackendPlan[] {
  const network = getNetworkPlan(evaluator);
  if (network === null || network.provider === 'cpu') return [];
  // From the start its pool's minibatch is one that suits it.
  const onCpu = { ...planOnCpu(network), mostRows: network.mostRows };
  return [createOnnxPlan(onCpu)];
}

function createPlan(kind: Exclude<SingleKind, 'auto'>, options: BackendOptions, minibatch: number): BackendPlan {
  const besideSearch = Math.max(1, getCoreCount() - 1);
  const shape = { name: kind, threads: besideSearch, batchesInFlight: 0, note: null };
  if (kind === 'trivial') return { ...shape, evaluator: { kind }, minibatch: 32 };
  if (kind === 'hash' || kind === 'random') {
    const evaluator: HashPlan = {
      kind: 'hash',
      backend: kind,
      seed: options.readInteger('seed', 0, -(2 ** 31), 2 ** 32),
      uniform: options.readFlag('uniform', false),
      delayMs: options.readInteger('delay', 0, 0, 60_000),
      cached: options.readFlag('cached', false),
    };
    return { ...shape, evaluator, minibatch: 64 };
  }
  return createOnnxPlan(readOnnxPlan(kind, options, minibatch || getSuitableMinibatch(kind)));
}

function createOnnxPlan(evaluator: OnnxPlan): BackendPlan {
  const { provider, devices, intraOpThreads } = evaluator;
  const threads = provider === 'cpu' ? Math.max(1, Math.floor(getCoreCount() / intraOpThreads)) : 0;
  const minibatch = getSuitableMinibatch(provider);
  return {
    name: provider,
    evaluator,
    threads: threads || getDeviceThreads(provider, devices),
    minibatch,
    batchesInFlight: 0,
    note: null,
  };
}

/**
 * Two threads a device: one encodes and decodes while the device works for the other. Sessions of WebGPU take turns in a process, and
 * one with several batches in flight serves as well.
 */
function getDeviceThreads(provider: Provider, devices: readonly number[]): number {
  return provider === 'webgpu' ? 1 : 2 * devices.length;
}

function getSuitableMinibatch(provider: Provider): number {
  return provider === 'cpu' ? 8 : 256;
}

/**
 * What a new batch size costs decides how few there shall be: TensorRT builds an engine for it, which takes minutes, CUDA
 * tries every algorithm of every convolution, DirectML and CoreML compile for one shape (lc0 gives them fixed batches too), and WebGPU compiles shaders.
 */
function getBatchStep(provider: Provider, minibatch: number): number {
  switch (provider) {
    case 'tensorrt':
      return minibatch;
    case 'cuda':
      return Math.min(32, minibatch);
    case 'dml':
    case 'coreml':
      return 16;
    case 'webgpu':
      return Math.min(16, minibatch);
    case 'cpu':
      return 0;
  }
}

/** Whose arithmetic is faster in half precision, as lc0 chooses for its own device backends; the others keep the network's own. */
const HALF_PRECISION: ReadonlySet<Provider> = new Set<Provider>(['cuda', 'tensorrt', 'dml']);

function readOnnxPlan(provider: Provider, options: BackendOptions, minibatch: number): OnnxPlan {
  const isCpu = provider === 'cpu';
  const { precision = HALF_PRECISION.has(provider) ? 'f16' : 'f32' } = readNetworkChoice(options);
  readIgnored(options);
  const batch = Math.max(0, options.readInteger('batch', getBatchStep(provider, minibatch), -1, 1024));
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
    batch,
    mostRows: readMostRows(options, batch),
    leastRows: options.readInteger('min_batch', 1, 1, 1024),
    precision,
    config: readProviderConfig(provider, options),
  };
}

/** lc0's max_batch, and its fixed sizes: `steps` multiples of `batch`. */
function readMostRows(options: BackendOptions, batch: number): number {
  const max = options.readInteger('max_batch', 0, 0, 1_000_000) || Number.POSITIVE_INFINITY;
  const steps = options.readInteger('steps', 0, 0, 1024);
  return steps > 0 && batch > 0 ? Math.min(max, steps * batch) : max;
}

/** Switches of lc0's own kernels and exporter, which change the speed there and have nothing to switch here. */
const IGNORED = [
  ...['graph_capture', 'cache_opt', 'multi_stream', 'res_block_fusing', 'fused_mha', 'custom_winograd'],
  ...['alt_mish', 'alt_layernorm', 'no_shape', 'ir', 'opset', 'batch_size', 'blas_cores'],
  ...['enable-gemm-metacommand', 'enable-conv-metacommand', 'force_tune', 'tune_only', 'plugin_path'],
];

function readIgnored(options: BackendOptions): void {
  for (const key of IGNORED) options.read(key);
}
