/**
 * The main thread's side of the search thread: starts it, sends it work, and stops it through shared words, because it
 * blocks while it searches. When the thread dies, `onFailure` says so once; a best move that was owed never comes.
 */
import { Worker } from 'node:worker_threads';
import { type SharedPoolHandle, wakeProducer } from '../nn/index.js';
import type { FromSearch, ToSearch } from './search-protocol.js';
import { SearchControl } from './stop-flag.js';

export interface SearchThreadEvents {
  onMessage(message: FromSearch): void;
  onFailure(error: Error): void;
}

export class SearchThread {
  private readonly worker: Worker;
  private readonly control = new SearchControl();
  private pool: SharedPoolHandle | null = null;
  /** Id of the search under way, 0 = none. */
  private runningId = 0;
  private isOver = false;

  constructor(events: SearchThreadEvents) {
    this.worker = new Worker(new URL('./search-worker.js', import.meta.url), { name: 'search' });
    const fail = (error: Error): void => {
      if (this.isOver) return;
      this.isOver = true;
      events.onFailure(error);
    };
    this.worker.on('message', (message: FromSearch) => {
      if (message.type === 'bestMove' && message.id === this.runningId) this.runningId = 0;
      if (!this.isOver) events.onMessage(message);
    });
    this.worker.on('error', fail);
    this.worker.on('exit', () => fail(new Error('The search thread has ended')));
  }

  /** Gives it evaluators; `ready` follows. The tree is dropped, since other evaluators made it. Not during a search. */
  attach(pool: SharedPoolHandle): void {
    this.pool = pool;
    this.worker.postMessage({ type: 'attach', pool, control: this.control.buffer } satisfies ToSearch);
  }

  post(message: ToSearch): void {
    if (message.type === 'go') this.runningId = message.id;
    this.worker.postMessage(message);
  }

  /** The best move follows within a few milliseconds. */
  stop(): void {
    if (this.runningId === 0) return;
    this.control.requestStop(this.runningId);
    if (this.pool !== null) wakeProducer(this.pool);
  }

  async dispose(): Promise<void> {
    this.isOver = true;
    this.stop();
    await this.worker.terminate();
  }
}
