/**
 * The main thread's part of evaluation: it allocates the shared memory, starts one thread for each evaluator, replaces threads
 * that die, passes on warnings, and ends the threads. It never reads or writes a leaf.
 */

import { getMemoryBytes } from '#platform/machine.js';
import { prepareRuntime } from '#platform/onnx-runtime.js';
import { startThread, type Thread } from '#platform/threads.js';
import { createDeferred, startWatchdog } from '../../../base/util/index.js';
import { NO_TABLEBASES, type TablebaseSettings } from '../../../chess/syzygy/index.js';
import type { HistoryFill } from '../../encoding/index.js';
import {
  createLeafSlotsBuffer,
  type LeafSlots,
  LiveEvaluators,
  MINIBATCH_WORD,
  PoolCounters,
  RootTable,
  SETTING_HISTORY_FILL,
  SETTING_POLICY_TEMPERATURE,
  type SharedPoolHandle,
  STOP_WORD,
  SUBMITTED_WORD,
  viewLeafSlots,
  WORK_WORD,
} from '../../leaves/index.js';
import {
  type BackendPlan,
  EVALUATOR_BYTES,
  getNetworkPlan,
  needsDevice,
  planBackend,
} from '../backend/backend-plan.js';
import { describeProviderFailure } from '../backend/provider-failures.js';
import { clearCache, computeCachePositions, createCacheBuffer, EvaluationCache } from '../cache/evaluation-cache.js';
import {
  loadEdition,
  type Model,
  type ModelEdition,
  type ModelFacts,
  type ModelFinder,
  type ModelSource,
} from '../model/model-file.js';
import { describeNetwork, type NetworkInfo } from '../model/network-info.js';
import {
  DEFAULT_CACHE_POSITIONS,
  DEFAULT_HISTORY_FILL,
  DEFAULT_POLICY_TEMPERATURE,
  HISTORY_FILLS,
} from '../options.js';
import type { FromWorker, WorkerStart } from './evaluator-messages.js';
import { FailureStreak } from './evaluator-supply.js';
import { TablebaseWords } from './tablebase-words.js';

export interface PoolOptions {
  /** Not needed for hash, random and trivial. A finder is called once for each backend that is tried. */
  readonly model?: ModelSource | ModelFinder;
  /** A name from BACKEND_NAMES; absent = `auto`. */
  readonly backend?: string;
  /** In lc0's syntax: key=value,key=value. */
  readonly backendOptions?: string;
  /** Skips the plans for devices, so that the CPU evaluates as it does if no device can be used. */
  readonly avoidsDevice?: boolean;
  /** Number of evaluator threads; 0 = the backend's default. */
  readonly threads?: number;
  /** Positions in one network call; 0 = the backend's default. */
  readonly minibatch?: number;
  /** Positions in the evaluation cache (NNCacheSize), as far as they take a quarter of the memory; 0 = no cache. */
  readonly cachePositions?: number;
  /** Size of the cache in MB (Hash), in place of cachePositions; 0 = not set. */
  readonly cacheMb?: number;
  readonly policyTemperature?: number;
  readonly historyFill?: HistoryFill;
  readonly tablebases?: TablebaseSettings;
  /** Longest time for a CPU thread to open the network and evaluate one position; devices have no limit, as they may compile for minutes. */
  readonly longestStartMs?: number;
  /** Script of the evaluator threads. Another script can call `runEvaluatorThread` with a factory of other evaluators. */
  readonly threadScript?: URL;
  /** Receives warnings of one sentence each: what failed and what happens next. */
  readonly onWarning?: (text: string) => void;
}

export type EvaluatorPoolSettings = Pick<PoolOptions, 'policyTemperature' | 'historyFill' | 'minibatch' | 'tablebases'>;

const MIN_SLOTS = 4096;
/** After this many crashes in a row a thread is restarted without an evaluator. */
const MAX_CRASHES = 3;
const STOP_TIMEOUT_MS = 2000;
const LONGEST_START_MS = 60_000;
/** The process without evaluators (90 MB measured), with what its heaps may grow. */
const PROCESS_BYTES = 150e6;
/** Copies of a network's weights that the runtime keeps in each thread: as they are stored, unpacked, and packed for its kernels. */
const WEIGHT_COPIES = 3;
/** Share that the process leaves free: the kernel's own pages and files being read count against the limit of a container. */
const FREE_SHARE = 0.05;
/** Most of the memory beside process and networks that the cache may take, unless Hash sets its size; the tree gains more by it. */
const CACHE_SHARE = 0.25;
const LEAST_CACHE_MB = 8;

export class EvaluatorPool {
  readonly handle: SharedPoolHandle;
  /** Counts of the evaluators' work. */
  readonly counters: PoolCounters;
  private readonly slots: LeafSlots;
  private readonly cache: SharedArrayBuffer | null;
  private readonly workers: (Thread<never> | null)[] = [];
  private readonly live: LiveEvaluators;
  /** Index = thread. */
  private readonly crashes: readonly FailureStreak[];
  private readonly warned = new Set<string>();
  /** Threads that can no longer use the device. */
  private readonly withoutDevice = new Set<number>();
  private backend: string;
  private isDisposed = false;
  private readonly checked = createDeferred();
  private readonly lost = createDeferred<string>();
  /** Resolves with the reason when the last thread can no longer evaluate. */
  readonly loss = this.lost.promise;

  private constructor(
    private readonly plan: BackendPlan,
    private readonly model: Model | null,
    private readonly options: PoolOptions,
  ) {
    const { threads, minibatch } = plan;
    const wantedSlots = 2 ** Math.ceil(Math.log2(4 * minibatch * (threads + 1)));
    const shape = { slotCount: Math.min(65536, Math.max(MIN_SLOTS, wantedSlots)), workers: threads };
    const slots = createLeafSlotsBuffer(shape);
    const { usesMovesLeft = true } = getNetworkPlan(plan.evaluator) ?? {};
    const hasMovesLeft = usesMovesLeft && describeNetwork(model, plan.name).hasMovesLeft;
    this.backend = plan.name;
    const roots = RootTable.createBuffer();
    const tablebaseWords = TablebaseWords.createBuffer();
    this.slots = viewLeafSlots(slots, shape);
    this.counters = new PoolCounters(this.slots);
    this.live = new LiveEvaluators(this.slots);
    this.crashes = Array.from({ length: threads }, () => new FailureStreak());
    const { tablebases = NO_TABLEBASES } = options;
    const { policyTemperature = DEFAULT_POLICY_TEMPERATURE, historyFill = DEFAULT_HISTORY_FILL } = options;
    const evaluatorBytes = threads * (EVALUATOR_BYTES + WEIGHT_COPIES * (model?.bytes.length ?? 0));
    const ownBytes = PROCESS_BYTES + evaluatorBytes + FREE_SHARE * getMemoryBytes();
    this.cache = createCacheBuffer(this.chooseCachePositions((CACHE_SHARE * (getMemoryBytes() - ownBytes)) / 2 ** 20));
    const reservedBytes = ownBytes + (this.cache?.byteLength ?? 0);
    this.handle = {
      ...shape,
      slots,
      roots,
      tablebases: tablebaseWords,
      minibatch,
      hasMovesLeft,
      reservedBytes,
    };
    this.configure({ policyTemperature, historyFill, minibatch, tablebases });
  }

  /** Positions of the cache: Hash as it is, or NNCacheSize up to this many MB (2^20 bytes). */
  private chooseCachePositions(mostMb: number): number {
    const { cacheMb = 0, cachePositions = 0 } = this.options;
    if (cacheMb > 0) return computeCachePositions(cacheMb);
    const most = computeCachePositions(Math.max(LEAST_CACHE_MB, mostMb));
    if (cachePositions > most && cachePositions !== DEFAULT_CACHE_POSITIONS)
      this.warn(
        `The evaluation cache holds ${most} positions: NNCacheSize ${cachePositions} needs more memory than it may take`,
      );
    return Math.min(cachePositions, most);
  }

  /**
   * Resolves when all threads are ready, on the CPU if the device cannot be used. Rejects with one sentence for the user if no
   * plan works.
   */
  static async create(options: PoolOptions): Promise<EvaluatorPool> {
    try {
      return await EvaluatorPool.createFirst(options);
    } catch (error) {
      // Shared memory that the system refuses.
      if (!(error instanceof RangeError)) throw error;
      throw new Error(`Cannot evaluate: ${describeProviderFailure(error.message)}`);
    }
  }

  /** With the first plan that works. */
  private static async createFirst(options: PoolOptions): Promise<EvaluatorPool> {
    const backend = options.backend ?? 'auto';
    const plans = planBackend({
      backend,
      optionsText: options.backendOptions ?? '',
      threads: options.threads ?? 0,
      minibatch: options.minibatch ?? 0,
    });
    if (!plans.ok) throw new Error(plans.error);
    const { note } = plans.value[0];
    if (note !== null) options.onWarning?.(note);
    let problem = '';
    let tried = `backend ${backend}`;
    for (const plan of plans.value) {
      if (options.avoidsDevice && needsDevice(plan)) continue;
      const network = getNetworkPlan(plan.evaluator);
      if (network !== null) prepareRuntime(network.config.tf32);
      const model = network === null ? null : await loadSharedModel(options.model, backend, network);
      if (model !== null) tried = model.path;
      const pool = new EvaluatorPool(plan, model, options);
      if (problem !== '' && backend !== 'auto') pool.warnOfFallback(backend, plan.name, problem);
      try {
        const first = pool.startWorker(0);
        // One thread looks at a stranger's network before all of them open it.
        if (model?.isForeign === true) await Promise.race([first, pool.checked.promise]);
        await Promise.all([first, ...Array.from({ length: plan.threads - 1 }, (_, i) => pool.startWorker(i + 1))]);
        return pool;
      } catch (error) {
        problem = (error as Error).message;
        await pool.dispose();
      }
    }
    throw new Error(`Cannot evaluate with ${tried}: ${describeProviderFailure(problem)}`);
  }

  get network(): NetworkInfo {
    return describeNetwork(this.model, this.backend);
  }

  get threads(): number {
    return this.plan.threads;
  }

  /**
   * True if no thread can use the pool's device any more. Threads that still evaluate do so on the CPU, with the number of
   * threads, the batch size and the form of the network that were chosen for the device.
   */
  get hasLostDevice(): boolean {
    return needsDevice(this.plan) && this.withoutDevice.size === this.plan.threads;
  }

  get minibatch(): number {
    return Atomics.load(this.slots.control, MINIBATCH_WORD);
  }

  /** Changes settings that need no new threads. No leaf may be in flight. */
  configure(settings: EvaluatorPoolSettings): void {
    const { policyTemperature, historyFill, minibatch, tablebases } = settings;
    if (policyTemperature !== undefined) this.slots.settings[SETTING_POLICY_TEMPERATURE] = policyTemperature;
    if (historyFill !== undefined) this.slots.settings[SETTING_HISTORY_FILL] = HISTORY_FILLS.indexOf(historyFill);
    if (minibatch !== undefined) Atomics.store(this.slots.control, MINIBATCH_WORD, minibatch);
    if (tablebases !== undefined) new TablebaseWords(this.handle.tablebases).write(tablebases);
    if (policyTemperature !== undefined || historyFill !== undefined) this.clearCache();
  }

  /** How full the evaluation cache is, in per mille; 0 without a cache. */
  get cacheFill(): number {
    return this.cache === null ? 0 : new EvaluationCache(this.cache).computeFill();
  }

  /** Removes all cached evaluations, those that are under way included, in constant time. */
  clearCache(): void {
    if (this.cache !== null) clearCache(this.cache, Atomics.load(this.slots.control, SUBMITTED_WORD));
  }

  /** Ends all threads; leaves in flight are never answered. */
  async dispose(): Promise<void> {
    this.isDisposed = true;
    const { control } = this.slots;
    Atomics.store(control, STOP_WORD, 1);
    Atomics.add(control, WORK_WORD, 1);
    Atomics.notify(control, WORK_WORD);
    this.live.wake();
    await Promise.all(this.workers.map((worker) => (worker === null ? undefined : endWorker(worker))));
  }

  /** Resolves when the thread is ready; rejects if it ends before. */
  private startWorker(index: number): Promise<void> {
    const crashes = this.crashes[index].length;
    const start: WorkerStart = {
      worker: index,
      handle: this.handle,
      cache: this.cache,
      plan: this.plan,
      model: this.model && describeFacts(this.model, index === 0),
      role: crashes === 0 ? 'first' : crashes <= MAX_CRASHES ? 'replacement' : 'hopeless',
    };
    return new Promise((resolve, reject) => {
      let isReady = false;
      let problem = 'the thread ended';
      const limitMs = needsDevice(this.plan) ? null : (this.options.longestStartMs ?? LONGEST_START_MS);
      const refuse = (): void =>
        reject(new Error(`it has not evaluated a position within ${Number(limitMs) / 1000} s`));
      const endWatchdog = limitMs === null ? (): void => undefined : startWatchdog(limitMs, refuse);
      const onMessage = (message: FromWorker): void => {
        if (message.type === 'ready') {
          isReady = true;
          endWatchdog();
          this.backend = message.backend;
          // An idle thread must not keep the process alive. A producer that awaits answers does.
          worker.keepProcessAlive(false);
          resolve();
        } else if (message.type === 'checked') {
          this.checked.resolve();
        } else if (message.type === 'fellBack') {
          this.backend = message.to;
          this.withoutDevice.add(index);
          this.warnOfFallback(message.from, message.to, message.reason);
        } else if (message.type === 'warning') {
          this.warn(message.text);
        } else {
          this.withoutDevice.add(index);
          this.warnOfLoss(message.othersLeft, message.reason);
        }
      };
      const onError = (error: Error): void => {
        problem = error.message;
      };
      const worker = startThread<never, FromWorker>(
        this.options.threadScript ?? new URL('./evaluator-worker.js', import.meta.url),
        { name: 'evaluator', data: start },
        { onMessage, onError },
      );
      this.workers[index] = worker;
      void worker.ended.then(() => {
        this.workers[index] = null;
        endWatchdog();
        if (!isReady) reject(new Error(problem));
        else if (!this.isDisposed) this.replaceWorker(index, problem);
      });
    });
  }

  private replaceWorker(index: number, problem: string): void {
    const crashes = this.crashes[index].add(this.counters.getEvaluationsOf(index));
    this.warn(`An evaluator thread ended and was started again: ${describeProviderFailure(problem)}`);
    this.startWorker(index).catch((error: Error) => {
      if (this.isDisposed) return;
      if (crashes <= MAX_CRASHES) this.replaceWorker(index, error.message);
      // Not even a thread without an evaluator could be started: give up.
      else this.warnOfLoss(this.live.leave(index), error.message);
    });
  }

  /** @param othersLeft threads that can evaluate */
  private warnOfLoss(othersLeft: number, reason: string): void {
    if (othersLeft === 0) this.lost.resolve(describeProviderFailure(reason));
    const loss =
      othersLeft === 0
        ? 'No position can be evaluated any more'
        : `An evaluator thread gave up, ${othersLeft} of ${this.threads} left`;
    this.warn(`${loss}: ${describeProviderFailure(reason)}`);
  }

  private warnOfFallback(from: string, to: string, reason: string): void {
    // Threads fail one after the other, with reasons that name different devices. One warning is enough.
    this.warn(`Backend ${from} failed, going on with ${to}: ${describeProviderFailure(reason)}`, `${from} ${to}`);
  }

  /** Passes on a warning, unless one with the same `topic` was given before: threads often fail for the same reason. */
  private warn(text: string, topic: string = text): void {
    if (this.warned.has(topic) || this.isDisposed) return;
    this.warned.add(topic);
    this.options.onWarning?.(text);
  }
}

/** A model without its encodings, which are code. One thread looks at a stranger's network for all. */
function describeFacts({ format: _, ...facts }: Model, looks: boolean): ModelFacts {
  return { ...facts, isForeign: facts.isForeign && looks };
}

/** Loads the model into shared memory, where every thread can read it. */
async function loadSharedModel(wanted: PoolOptions['model'], backend: string, edition: ModelEdition): Promise<Model> {
  if (wanted === undefined) throw new Error(`Backend ${backend} needs a network`);
  const model = await loadEdition(wanted, edition);
  if (!model.ok) throw new Error(model.error);
  const given = model.value.bytes;
  if (given.buffer instanceof SharedArrayBuffer) return model.value;
  const bytes = new Uint8Array(new SharedArrayBuffer(given.length));
  bytes.set(given);
  return { ...model.value, bytes };
}

/**
 * Waits until a thread has ended by itself, so that it frees its device memory. If it is still inside onnxruntime after
 * STOP_TIMEOUT_MS, it is left to end later: terminating it there would abort the whole process.
 */
async function endWorker(worker: Thread<never>): Promise<void> {
  worker.keepProcessAlive(true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS);
  });
  await Promise.race([worker.ended, timeout]);
  clearTimeout(timer);
  worker.keepProcessAlive(false);
}
