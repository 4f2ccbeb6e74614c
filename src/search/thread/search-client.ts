/**
 * The main thread's handle of the search thread: starts it, sends it work, and stops it through a shared word, because the
 * thread blocks while it searches. When the thread dies, `onFailure` is called once, and a running search never answers.
 */
import { startThread, type Thread } from '#platform/threads.js';
import { type SharedPoolHandle, wakeProducer } from '../../networks/leaves/index.js';
import { type FromSearch, StopFlag, type ToSearch } from '../protocol/search-protocol.js';

export interface SearchClientEvents {
  onMessage(message: FromSearch): void;
  /** The thread has died; a new one must be created. */
  onFailure(error: Error): void;
}

export class SearchClient {
  private readonly worker: Thread<ToSearch>;
  private readonly stopFlag = new StopFlag();
  private pool: SharedPoolHandle | null = null;
  /** Id of the search under way, 0 = none. */
  private runningId = 0;
  private isOver = false;

  constructor(events: SearchClientEvents) {
    const fail = (error: Error): void => {
      if (this.isOver) return;
      this.isOver = true;
      events.onFailure(error);
    };
    const onMessage = (message: FromSearch): void => {
      if (message.type === 'bestMove' && message.id === this.runningId) this.runningId = 0;
      if (!this.isOver) events.onMessage(message);
    };
    this.worker = startThread<ToSearch, FromSearch>(
      new URL('./search-worker.js', import.meta.url),
      { name: 'search' },
      { onMessage, onError: fail },
    );
    void this.worker.ended.then(() => fail(new Error('The search thread has ended')));
  }

  /** Gives the thread new evaluators and drops the tree; `ready` follows. Not during a search. */
  attach(pool: SharedPoolHandle): void {
    this.pool = pool;
    this.worker.post({ type: 'attach', pool, stopFlag: this.stopFlag.buffer });
  }

  post(message: ToSearch): void {
    if (message.type === 'go') this.runningId = message.id;
    this.worker.post(message);
  }

  /** The best move follows within a few milliseconds. */
  stop(): void {
    if (this.runningId === 0) return;
    this.stopFlag.raiseFor(this.runningId);
    if (this.pool !== null) wakeProducer(this.pool);
  }

  async dispose(): Promise<void> {
    this.isOver = true;
    this.stop();
    await this.worker.terminate();
  }
}
