/**
 * Backends that combine others, with lc0's names and syntax: `multiplexing`, `demux` and `roundrobin` distribute the leaves of
 * one search over several devices; `check` compares two backends. The three names mean the same here: each evaluator thread
 * takes the next batch when it is free, so faster devices evaluate more. `threads` of a part is the number of its threads.
 */
import { type BackendKind, findBackend } from './backend-names.js';
import { BackendOptionError, type BackendOptionKey, type BackendOptions } from './backend-options.js';
import type { BackendPlan, OnnxPlan, SinglePlan } from './backend-plan.js';

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
export type PartPlanner = (kind: SingleKind, options: BackendOptions) => BackendPlan;

const MOST_THREADS = 128;
const CHECK_MODES = ['check', 'display', 'histo'] as const;
/** Defaults as in lc0 (network_check.cc). */
const CHECK_FREQUENCY = 0.2;
const ABSOLUTE_TOLERANCE = 1e-5;
const RELATIVE_TOLERANCE = 1e-4;

/** Throws BackendOptionError. */
export function planTeam(backend: string, options: BackendOptions, planPart: PartPlanner): BackendPlan {
  // An option of lc0's demux without effect here: batches are not split.
  options.read('minimum-split-size');
  const parts = listParts(options).map((part) => {
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
export function planCheck(options: BackendOptions, planPart: PartPlanner): BackendPlan {
  const parts = options.children.size === 0 ? [] : listParts(options);
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
    frequency: readNumber(options, 'freq', CHECK_FREQUENCY),
    absoluteTolerance: readNumber(options, 'atol', ABSOLUTE_TOLERANCE),
    relativeTolerance: readNumber(options, 'rtol', RELATIVE_TOLERANCE),
    mode,
  };
  return { ...first, evaluator };
}

/** The plan that decides which form of the network all parts load: a device's, else the CPU's; null without a network. */
export function findNetworkPlan(parts: readonly SinglePlan[]): OnnxPlan | null {
  const networks = parts.filter((part) => part.kind === 'onnx');
  return networks.find(({ provider }) => provider !== 'cpu') ?? networks[0] ?? null;
}

interface Part {
  readonly name: string;
  readonly options: BackendOptions;
}

/** Without nested dictionaries the options themselves describe the only part. */
function listParts(options: BackendOptions): Part[] {
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

function readNumber(options: BackendOptions, key: BackendOptionKey, fallback: number): number {
  const text = options.read(key);
  const number = text === undefined ? fallback : Number(text);
  if (Number.isFinite(number) && number >= 0 && number <= 1) return number;
  throw new BackendOptionError(`Backend option ${key} must be a number from 0 to 1, not "${text}"`);
}
