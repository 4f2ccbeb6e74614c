/** Threads and turns of their event loops: what `#platform/threads.js` offers in Node (worker_threads) and in a page (Web Workers). */

export interface ThreadOptions {
  /** Shown by debuggers and profilers. */
  readonly name?: string;
  /** What `getThreadData` returns in the thread; copied, except for shared memory. */
  readonly data?: unknown;
}

export interface ThreadEvents<FromThread> {
  onMessage(message: FromThread): void;
  /** An exception that the thread did not catch. The thread ends. */
  onError?(error: Error): void;
}

/** A running thread, as the thread that started it sees it. */
export interface Thread<ToThread> {
  /** Resolves when the thread has ended, for whatever reason, and all its messages have arrived. Never rejects. */
  readonly ended: Promise<void>;
  post(message: ToThread): void;
  /** Whether the process stays alive as long as this thread runs; at first it does. Without effect in a page. */
  keepProcessAlive(does: boolean): void;
  /** Ends the thread at once, also in the middle of a computation. */
  terminate(): Promise<void>;
}

/** The functions of `#platform/threads.js`. */
export interface ThreadPort {
  /**
   * Starts a thread.
   * @param script written as `new URL('./x-worker.js', import.meta.url)`, so that packaging finds it
   */
  startThread<ToThread, FromThread>(
    script: URL,
    options: ThreadOptions,
    events: ThreadEvents<FromThread>,
  ): Thread<ToThread>;
  /** In a thread: the data it was started with. */
  getThreadData<Data>(): Promise<Data>;
  /** In a thread: sends a message to the thread that started it. */
  postToParent(message: unknown): void;
  /** In a thread: handles messages from the thread that started it. Messages that came earlier are not lost. */
  onParentMessage<ToThread>(handle: (message: ToThread) => void): void;
  /** In a thread, when its work is done and it waits for no message: lets it end. */
  endThread(): void;
  /** Calls `work` after the messages, timers and pipes that are due were served. */
  runNextTurn(work: () => void): void;
  /** Resolves after the messages, timers and pipes that are due were served. */
  nextTurn(): Promise<void>;
  /** A timer that does not keep the process alive. @returns ends it */
  repeatEvery(milliseconds: number, work: () => void): () => void;
}
