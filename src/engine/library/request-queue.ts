/**
 * Requests for one or several engines, in the order in which they came. An engine takes the next one when it is free. A request ends
 * another one only if no engine is free and the other is a search without a limit.
 */

import type { Signal } from './chess-engine.js';
import type { EngineHost, HostFactory } from './engine-host.js';
import { SearchRequest } from './search-request.js';

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
  private disposal: Promise<void> | undefined;
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

  /** The first one, for questions that all answer alike. */
  get host(): EngineHost {
    return this.slots[0].host;
  }

  /** Throws when the queue is closed. */
  requireOpen(): void {
    if (this.closed !== null) throw this.closed;
  }

  /** @param signal gives up the request. @returns a function that ends the watch of the signal */
  add(request: QueuedRequest, signal?: Signal): () => void {
    const abort = (): void => {
      this.waiting = this.waiting.filter((other) => other !== request);
      request.fail?.(signal?.reason);
    };
    if (signal?.aborted) {
      abort();
      return () => undefined;
    }
    signal?.addEventListener('abort', abort);
    this.waiting.push(request);
    this.startNext();
    return () => signal?.removeEventListener('abort', abort);
  }

  stop(): void {
    for (const request of [...this.slots.map(({ current }) => current), ...this.waiting]) request?.stop?.();
  }

  dispose(): Promise<void> {
    this.disposal ??= this.close(new Error('The engine was disposed of'));
    return this.disposal;
  }

  /** All requests without an answer fail. */
  private async close(error: Error): Promise<void> {
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
