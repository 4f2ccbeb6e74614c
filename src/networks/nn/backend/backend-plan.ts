/**
 * Turns the options Backend and BackendOptions into a plan: plain data that tells each evaluator thread which evaluator to
 * create. Errors of the user (unknown backend, unknown or malformed option) are found here, before a thread is started.
 */
import { getCoreCount, getMemoryBytes } from '#platform/machine.js';
import { hasCudaProvider } from '#platform/onnx-runtime.js';
import { failure, type Result, success } from '../../../base/util/index.js';
import { LC0_FORMATS } from '../../encoding/index.js';
import { BACKENDS, type BackendKind, findBackend, type Provider } from './backend-names.js';
import {
  BackendOptionError,
  type BackendOptionKey,
  type BackendOptions,
  IGNORED_KEYS,
  readBackendOptions,
} from './backend-options.js';
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
  /** Batches are padded to the first of these sizes that holds them, larger ones to a multiple of the last; none = no padding. */
  readonly batchSizes: readonly number[];
  /** Upper limit of the batch size; the pool's minibatch may be larger. */
  readonly mostRows: number;
  /** Smaller batches are padded to this size. */
  readonly leastRows: number;
  /** Precision of the network to load. */
  readonly precision: Precision;
  /** Whether the search is told the output of the moves-left head, if there is one. */
  readonly usesMovesLeft: boolean;
  /** Seed that decides which positions without castling rights are evaluated with mirrored files; 0 = none. */
  readonly symmetrySeed: number;
  /** Share of Dirichlet noise in the priors of every position, which the seed and the position decide. */
  readonly noise: { readonly share: number; readonly seed: number };
  readonly config: ProviderConfig;
}

export interface HashPlan {
  readonly kind: 'hash';
  readonly seed: number;
  /** Duration of each run. */
  readonly delayMs: number;
  /** Uses the evaluation cache, as networks do. */
  readonly cached: boolean;
}

/** lc0's `random`. */
export interface RandomPlan {
  readonly kind: 'random';
  readonly seed: number;
  readonly uniform: boolean;
  readonly delayMs: number;
  readonly inputEncoding: string;
}

/** Describes one evaluator. */
export type SinglePlan = OnnxPlan | HashPlan | RandomPlan | { readonly kind: 'trivial' };
export type EvaluatorPlan = SinglePlan | TeamPlan | CheckPlan;

export interface BackendPlan {
  /** The backend's name. */
  readonly name: string;
  readonly evaluator: EvaluatorPlan;
  readonly threads: number;
  readonly minibatch: number;
  /** One sentence for the user if this is not the backend that was named, else null. */
  readonly note: string | null;
}

export interface PlanRequest {
  readonly backend: string;
  /** In lc0's syntax (backend-options.ts). */
  readonly optionsText: string;
  /** Number of evaluator threads; 0 = the backend's default. */
  readonly threads: number;
  /** Positions in one network call; 0 = the backend's default. */
  readonly minibatch: number;
}

/**
 * @returns the plans to try, best first: a plan for a device is followed by one for the CPU. `threads` applies to both;
 * `minibatch` applies to the device only.
 */
export function planBackend(request: PlanRequest): Result<readonly BackendPlan[]> {
  const { backend, optionsText, threads, minibatch } = request;
  const found = findBackend(backend);
  if (found === undefined) return failure(`Unknown backend "${backend}"; known are ${[...BACKENDS.keys()].join(', ')}`);
  return readBackendOptions(optionsText, (options) => {
    const first = createFirst(backend, found.kind, options, minibatch);
    options.refuseUnread(backend);
    const chosen = {
      ...first,
      note: found.note,
      threads: threads || first.threads,
      minibatch: minibatch || first.minibatch,
    };
    return [chosen, ...listFallbacks(first).map((plan) => ({ ...plan, threads: threads || plan.threads }))];
  });
}

/** Whether a device other than the CPU evaluates the network. */
export function needsDevice({ evaluator }: BackendPlan): boolean {
  const network = getNetworkPlan(evaluator);
  return network !== null && network.provider !== 'cpu';
}

/** The plan that decides which form of the network is loaded; null for evaluators without a network. */
export function getNetworkPlan(evaluator: EvaluatorPlan): OnnxPlan | null {
  return findNetworkPlan(listParts(evaluator));
}

/** What a thread tries when its evaluator has failed: the CPU; without a network, the same evaluator again. */
export function planReplacement(evaluator: EvaluatorPlan): SinglePlan {
  const network = getNetworkPlan(evaluator);
  return network === null ? listParts(evaluator)[0] : planOnCpu(network);
}

function listParts(evaluator: EvaluatorPlan): readonly SinglePlan[] {
  if (evaluator.kind === 'team') return evaluator.members;
  return evaluator.kind === 'check' ? [evaluator.working, evaluator.reference] : [evaluator];
}

/** The name of the backend that is tried first: `cuda` for `auto` if CUDA is installed. Fails for invalid options. */
export function getBackendName(backend: string, optionsText: string): Result<string> {
  const plans = planBackend({ backend, optionsText, threads: 0, minibatch: 0 });
  return plans.ok ? success(plans.value[0].name) : plans;
}

/** The same network on the CPU, without the settings that were chosen for a device. */
export function planOnCpu(plan: OnnxPlan): OnnxPlan {
  const mostRows = plan.provider === 'cpu' ? plan.mostRows : getSuitableMinibatch('cpu');
  const shape = { devices: [0], intraOpThreads: 1, batchSizes: [], mostRows, leastRows: 1 };
  return { ...plan, ...shape, provider: 'cpu', precision: 'f32' };
}

function createFirst(backend: string, kind: BackendKind, options: BackendOptions, minibatch: number): BackendPlan {
  const planPart = (part: SingleKind, own: BackendOptions): BackendPlan =>
    createPlan(getFirstKind(part, own), own, minibatch);
  if (kind === 'team') return planTeam(backend, options, planPart);
  return kind === 'check' ? planCheck(options, planPart) : planPart(kind, options);
}

function getFirstKind(kind: SingleKind, options: BackendOptions): Exclude<SingleKind, 'auto'> {
  if (kind !== 'auto') return kind;
  return hasCudaProvider() && readNetworkChoice(options).precision !== 'int8' ? 'cuda' : 'cpu';
}

function listFallbacks({ evaluator }: BackendPlan): BackendPlan[] {
  const network = getNetworkPlan(evaluator);
  if (network === null || network.provider === 'cpu') return [];
  // The pool of this plan has a minibatch that suits the CPU, so batches need no further limit.
  const onCpu = { ...planOnCpu(network), mostRows: network.mostRows };
  return [createOnnxPlan(onCpu)];
}

function createPlan(kind: Exclude<SingleKind, 'auto'>, options: BackendOptions, minibatch: number): BackendPlan {
  const besideSearch = Math.max(1, getCoreCount() - 1);
  const shape = { name: kind, threads: besideSearch, note: null };
  const readSeed = (): number => options.readInteger('seed', 0, -(2 ** 31), 2 ** 32);
  const readDelay = (): number => options.readInteger('delay', 0, 0, 60_000);
  if (kind === 'trivial') {
    options.read('input_mode');
    return { ...shape, evaluator: { kind }, minibatch: 32 };
  }
  if (kind === 'random') {
    const uniform = options.readFlag('uniform', false);
    const inputEncoding = readInputMode(options);
    const evaluator: RandomPlan = { kind, seed: readSeed(), uniform, delayMs: readDelay(), inputEncoding };
    return { ...shape, evaluator, minibatch: 64 };
  }
  if (kind === 'hash') {
    const cached = options.readFlag('cached', false);
    return { ...shape, evaluator: { kind, seed: readSeed(), delayMs: readDelay(), cached }, minibatch: 64 };
  }
  return createOnnxPlan(readOnnxPlan(kind, options, minibatch || getSuitableMinibatch(kind)));
}

/** Memory of an evaluator thread beside its weights: the thread itself, and the runtime's buffers (30 to 40 MB measured). */
export const EVALUATOR_BYTES = 40e6;
/** Share of the memory that the threads of the default may take: a container often limits memory and not the cores. */
const EVALUATORS_SHARE = 0.25;

function createOnnxPlan(evaluator: OnnxPlan): BackendPlan {
  const { provider } = evaluator;
  const [threads, minibatch] = [getSuitableThreads(evaluator), getSuitableMinibatch(provider)];
  return { name: provider, evaluator, threads, minibatch, note: null };
}

/**
 * Two threads for each device: one encodes and decodes while the device evaluates for the other. WebGPU runs one session of a
 * process at a time, so a second thread gains nothing.
 */
function getSuitableThreads({ provider, devices, intraOpThreads }: OnnxPlan): number {
  if (provider === 'webgpu') return 1;
  if (provider !== 'cpu') return 2 * devices.length;
  const most = Math.floor((EVALUATORS_SHARE * getMemoryBytes()) / EVALUATOR_BYTES);
  return Math.max(1, Math.min(most, Math.floor(getCoreCount() / intraOpThreads)));
}

function getSuitableMinibatch(provider: Provider): number {
  return provider === 'cpu' ? 8 : 256;
}

/**
 * The default padding. Where each new batch size is expensive, only a few sizes should occur: TensorRT builds an engine for
 * each, which takes minutes; CUDA tries every algorithm of every convolution; DirectML and CoreML compile for one shape (lc0
 * also gives them fixed batches); WebGPU compiles shaders.
 */
function getBatchSizes(provider: Provider, minibatch: number): number[] {
  switch (provider) {
    case 'tensorrt':
      return [minibatch];
    case 'cuda': {
      const smaller: number[] = [];
      for (let size = 32; size < minibatch; size *= 4) smaller.push(size);
      return [...smaller, minibatch];
    }
    case 'dml':
    case 'coreml':
      return [16];
    case 'webgpu':
      return [Math.min(16, minibatch)];
    case 'cpu':
      return [];
  }
}

/** Providers that are faster in half precision. lc0's backends for these devices use it too. */
const HALF_PRECISION: ReadonlySet<Provider> = new Set<Provider>(['cuda', 'tensorrt', 'dml']);

function readOnnxPlan(provider: Provider, options: BackendOptions, minibatch: number): OnnxPlan {
  const isCpu = provider === 'cpu';
  const { precision = HALF_PRECISION.has(provider) ? 'f16' : 'f32' } = readNetworkChoice(options);
  if (precision === 'int8' && !isCpu) {
    throw new BackendOptionError(
      `Backend option datatype=int8 is for the CPU (backend=cpu); ${provider} takes f16 or f32`,
    );
  }
  for (const key of IGNORED_KEYS) options.read(key);
  const batchSizes = readBatchSizes(provider, options, minibatch);
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
    optimization: readOptimization(options),
    batchSizes,
    mostRows: readMostRows(options, batchSizes[0] ?? 0),
    leastRows: options.readInteger('min_batch', 1, 1, 1024),
    precision,
    usesMovesLeft: options.readFlag('mlh', true),
    symmetrySeed: options.readInteger('symmetry', 0, 0, 2 ** 31 - 1),
    noise: {
      share: options.readInteger('noise', 0, 0, 100) / 100,
      seed: options.readInteger('seed', 1, 0, 2 ** 31 - 1),
    },
    config: readProviderConfig(provider, options),
  };
}

function readBatchSizes(provider: Provider, options: BackendOptions, minibatch: number): number[] {
  if (options.read('batch') === undefined) return getBatchSizes(provider, minibatch);
  const batch = options.readInteger('batch', 0, -1, 1024);
  return batch > 0 ? [batch] : [];
}

/** The encoding with lc0's number. */
function readInputMode(options: BackendOptions): string {
  const number = options.readInteger('input_mode', 1, 0, 256);
  const format = LC0_FORMATS.find(({ id }) => id === number);
  if (format !== undefined) return format.name;
  throw new BackendOptionError(`Backend option input_mode must be the number of one of lc0's inputs, not ${number}`);
}

/** As in lc0, any other number than 0, 1 and 2 means all. */
function readOptimization(options: BackendOptions): number {
  const level = options.readInteger('optimize', 3, -(2 ** 31), 2 ** 31);
  return level >= 0 && level < 3 ? level : 3;
}

/** lc0's `max_batch`; with `steps`, batches are at most `steps` × `batch`. */
function readMostRows(options: BackendOptions, batch: number): number {
  const max = options.readInteger('max_batch', 0, 0, 1_000_000) || Number.POSITIVE_INFINITY;
  const steps = options.readInteger('steps', 0, 0, 1024);
  return steps > 0 && batch > 0 ? Math.min(max, steps * batch) : max;
}

// Backends that combine others, with lc0's names and syntax: `multiplexing`, `demux` and `roundrobin` distribute the leaves of
// one search over several devices; `check` compares two backends. The three names mean the same here: each evaluator thread
// takes the next batch when it is free, so faster devices evaluate more. `threads` of a part is the number of its threads.

export interface TeamPlan {
  readonly kind: 'team';
  /** Thread i uses members[i mod length]. */
  readonly members: readonly SinglePlan[];
}

export interface CheckPlan {
  readonly kind: 'check';
  /** The search uses this one's answers. */
  readonly working: SinglePlan;
  readonly reference: SinglePlan;
  /** Share of the batches that are compared. */
  readonly frequency: number;
  readonly absoluteTolerance: number;
  readonly relativeTolerance: number;
  /** As in lc0: `check` counts batches that differ, `display` only shows the largest differences, `histo` adds a histogram. */
  readonly mode: 'check' | 'display' | 'histo';
}

type SingleKind = Exclude<BackendKind, 'team' | 'check'>;
/** Plans one part of a composite backend from its options. */
type PartPlanner = (kind: SingleKind, options: BackendOptions) => BackendPlan;

const MOST_THREADS = 128;
const CHECK_MODES = ['check', 'display', 'histo'] as const;
/** Defaults as in lc0 (network_check.cc). */
const CHECK_FREQUENCY = 0.2;
const ABSOLUTE_TOLERANCE = 1e-5;
const RELATIVE_TOLERANCE = 1e-4;

/** Throws BackendOptionError. */
function planTeam(backend: string, options: BackendOptions, planPart: PartPlanner): BackendPlan {
  // An option of lc0's demux without effect here: batches are not split.
  options.read('minimum-split-size');
  const parts = splitParts(options).map((part) => {
    const threads = part.options.readInteger('threads', 0, 0, MOST_THREADS);
    const plan = planPart(findPartKind(backend, part, 'auto'), part.options);
    return { plan, threads: threads || plan.threads };
  });
  const most = Math.max(...parts.map(({ threads }) => threads));
  // Parts take turns, so that all of them get threads even if the user asks for fewer.
  const members = Array.from({ length: most }, (_, round) =>
    parts.filter(({ threads }) => round < threads).map(({ plan }) => useOneThread(plan.evaluator as SinglePlan)),
  ).flat();
  return {
    ...parts[0].plan,
    evaluator: { kind: 'team', members: shareEdition(members) },
    name: findNetworkPlan(members)?.provider ?? parts[0].plan.name,
    threads: members.length,
    minibatch: Math.min(...parts.map(({ plan }) => plan.minibatch)),
  };
}

/** Throws BackendOptionError. */
function planCheck(options: BackendOptions, planPart: PartPlanner): BackendPlan {
  const parts = options.children.size === 0 ? [] : splitParts(options);
  if (parts.length > 2) throw new BackendOptionError('Backend check compares two backends, not more');
  const fallbacks: readonly SingleKind[] = ['auto', 'cpu'];
  const [first, second] = fallbacks.map((fallback, index) => {
    const part = parts[index] ?? { name: '', options };
    return planPart(parts[index] === undefined ? fallback : findPartKind('check', part, fallback), part.options);
  });
  const [working, reference] = shareEdition([first.evaluator as SinglePlan, second.evaluator as SinglePlan]);
  const mode = CHECK_MODES.find((name) => name === (options.read('mode') ?? 'check'));
  if (mode === undefined) throw new BackendOptionError(`Backend option mode must be one of ${CHECK_MODES.join(', ')}`);
  const evaluator: CheckPlan = {
    kind: 'check',
    working,
    reference,
    frequency: readHeadNumber(options, 'freq', CHECK_FREQUENCY),
    absoluteTolerance: readHeadNumber(options, 'atol', ABSOLUTE_TOLERANCE),
    relativeTolerance: readHeadNumber(options, 'rtol', RELATIVE_TOLERANCE),
    mode,
  };
  return { ...first, evaluator };
}

/** The plan that decides which form of the network all parts load: a device's, else the CPU's; null without a network. */
function findNetworkPlan(parts: readonly SinglePlan[]): OnnxPlan | null {
  const networks = parts.filter((part) => part.kind === 'onnx');
  return networks.find(({ provider }) => provider !== 'cpu') ?? networks[0] ?? null;
}

interface Part {
  readonly name: string;
  readonly options: BackendOptions;
}

/** Without nested dictionaries the options themselves describe the only part. */
function splitParts(options: BackendOptions): Part[] {
  if (options.children.size === 0) return [{ name: '', options }];
  return [...options.children].map(([name, child]) => {
    child.isUsed = true;
    return { name, options: child };
  });
}

function findPartKind(backend: string, { name, options }: Part, fallback: SingleKind): SingleKind {
  const text = options.read('backend') ?? name;
  if (text === '') return fallback;
  const kind = findBackend(text)?.kind;
  if (kind === undefined) {
    throw new BackendOptionError(`Part ${name} of backend ${backend} names no backend: write ${name}(backend=cuda,…)`);
  }
  if (kind === 'team' || kind === 'check') throw new BackendOptionError(`Backend ${backend} cannot contain ${text}`);
  return kind;
}

function useOneThread(plan: SinglePlan): SinglePlan {
  return plan.kind === 'onnx' ? { ...plan, intraOpThreads: 1 } : plan;
}

/** All parts share one model. It is in half precision or 8 bits only if every part wants that. */
function shareEdition<Parts extends readonly SinglePlan[]>(parts: Parts): SinglePlan[] {
  const wanted = new Set(parts.flatMap((part) => (part.kind === 'onnx' ? [part.precision] : [])));
  const [only] = wanted;
  const precision = wanted.size === 1 ? only : 'f32';
  return parts.map((part) => (part.kind === 'onnx' ? { ...part, precision } : part));
}

function readHeadNumber(options: BackendOptions, key: BackendOptionKey, fallback: number): number {
  const text = options.read(key);
  const number = text === undefined ? fallback : Number(text);
  if (Number.isFinite(number) && number >= 0 && number <= 1) return number;
  throw new BackendOptionError(`Backend option ${key} must be a number from 0 to 1, not "${text}"`);
}
