/**
 * Requests for one or several engines, in the order in which they came. An engine takes the next one when it is free. A request ends
 * another one only if no engine is free and the other is a search without a limit.
 */

import { createDeferred } from '../../base/util/index.js';
import { NO_MOVE } from '../../chess/rules/index.js';
import { type BestMove, isUnlimited, type RootStats, type SearchReport } from '../core/index.js';
import type { SearchEnd, Signal } from './chess-engine.js';
import type { EngineHost, HostFactory, HostTask } from './engine-host.js';
import { RunningSearch } from './running-search.js';

export interface QueuedRequest {
  /** Resolves when the engine is free again; never rejects. */
  run(host: EngineHost): Promise<void>;
  readonly isEndless?: boolean;
  /** Ends a request that is endless, for the next one. */
  giveWay?(): void;
  stop?(): void;
  fail?(error: unknown): void;
}

export interface QueueEvents {
  readonly onWarning: (sentence: string) => void;
  readonly onProgress: (sentence: string) => void;
}

interface Slot {
  readonly host: EngineHost;
  current: QueuedRequest | null;
}

export class RequestQueue {
  private readonly slots: Slot[];
  private waiting: QueuedRequest[] = [];
  private closed: Error | null = null;
  readonly onWarning: (sentence: string) => void;

  constructor(createHost: HostFactory, size: number, { onWarning, onProgress }: QueueEvents) {
    this.onWarning = onWarning;
    this.slots = Array.from({ length: size }, (): Slot => {
      const getSearch = (): SearchRequest | null => (slot.current instanceof SearchRequest ? slot.current : null);
      const host = createHost({
        report: (report) => getSearch()?.add(report),
        moveStats: (stats) => getSearch()?.addMoves(stats),
        bestMove: (best) => getSearch()?.end(best),
        failure: (sentence) => {
          getSearch()?.noteFailure();
          onWarning(sentence);
        },
        warning: onWarning,
        progress: onProgress,
        loss: (sentence) => void this.close(new Error(sentence)),
      });
      const slot: Slot = { host, current: null };
      return slot;
    });
  }

  get hosts(): readonly EngineHost[] {
    return this.slots.map(({ host }) => host);
  }

  /** Throws when the queue is closed. */
  requireOpen(): void {
    if (this.closed !== null) throw this.closed;
  }

  add(request: QueuedRequest): void {
    this.waiting.push(request);
    this.startNext();
  }

  /** Removes a request that has not begun. */
  remove(request: QueuedRequest): void {
    this.waiting = this.waiting.filter((other) => other !== request);
  }

  stop(): void {
    for (const request of [...this.slots.map(({ current }) => current), ...this.waiting]) request?.stop?.();
  }

  /** All requests without an answer fail. */
  async close(error: Error): Promise<void> {
    this.closed = error;
    for (const request of [...this.slots.map(({ current }) => current), ...this.waiting.splice(0)])
      request?.fail?.(error);
    await Promise.all(this.hosts.map((host) => host.dispose()));
  }

  private startNext(): void {
    for (const slot of this.slots) {
      if (slot.current !== null || this.closed !== null) continue;
      const next = this.waiting.shift();
      if (next === undefined) return;
      slot.current = next;
      void next.run(slot.host).then(() => {
        slot.current = null;
        this.startNext();
      });
    }
    for (const { current } of this.slots.slice(0, this.waiting.length)) if (current?.isEndless) current.giveWay?.();
  }
}

export class SearchRequest implements QueuedRequest {
  readonly search: RunningSearch;
  private host: EngineHost | null = null;
  private ended: SearchEnd = 'limit';
  private hasFailed = false;
  private isPondering: boolean;
  private finish: () => void = () => undefined;

  constructor(
    private readonly task: HostTask,
    chess960: boolean,
  ) {
    this.isPondering = task.request.ponder === true;
    const stop = (): void => this.stop();
    this.search = new RunningSearch({ chess960, stop, ponderHit: () => this.ponderHit() });
  }

  get isEndless(): boolean {
    return this.isPondering || isUnlimited(this.task.request);
  }

  run(host: EngineHost): Promise<void> {
    this.host = host;
    return new Promise((resolve) => {
      this.finish = resolve;
      host.go(this.task);
      if (this.ended !== 'limit') host.stop();
      else if (this.task.request.ponder === true && !this.isPondering) host.ponderHit();
    });
  }

  giveWay(): void {
    this.endEarly('replaced');
  }

  stop(): void {
    this.endEarly('stopped');
  }

  fail(error: unknown): void {
    this.search.fail(error);
    this.endEarly('stopped');
  }

  add(report: SearchReport): void {
    this.search.add(report);
  }

  addMoves(stats: RootStats): void {
    this.search.addMoves(stats);
  }

  noteFailure(): void {
    this.hasFailed = true;
  }

  end(best: BestMove): void {
    this.search.end(best, best.move === NO_MOVE ? 'gameOver' : this.hasFailed ? 'failed' : this.ended);
    this.finish();
  }

  private ponderHit(): void {
    if (!this.isPondering) throw new Error('ponderHit without a search that ponders');
    this.isPondering = false;
    this.host?.ponderHit();
  }

  private endEarly(end: SearchEnd): void {
    if (this.ended !== 'limit') return;
    this.ended = end;
    this.host?.stop();
  }
}

export class EvaluationRequest implements QueuedRequest {
  private readonly answer = createDeferred<RootStats | null>();
  readonly stats = this.answer.promise;

  constructor(private readonly task: HostTask) {}

  async run(host: EngineHost): Promise<void> {
    await host.evaluate(this.task).then(this.answer.resolve, this.answer.reject);
  }

  fail(error: unknown): void {
    this.answer.reject(error);
  }
}

/** Gives up the request when the signal aborts. @returns a function that ends the watch */
export function followSignal(queue: RequestQueue, request: QueuedRequest, signal: Signal | undefined): () => void {
  if (signal === undefined) return () => undefined;
  const abort = (): void => {
    queue.remove(request);
    request.fail?.(signal.reason);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  return () => signal.removeEventListener('abort', abort);
}
