/**
 * An engine's process: sends and receives lines. One caller at a time waits for a certain line. When the process ends, fails
 * to start or sends nothing for too long, the wait is rejected with one sentence that names the engine. Another thread reads
 * and writes the pipes (engine-pipes-worker.ts), so times are exact even when this thread is busy.
 */

import { startThread, type Thread } from '#platform/threads.js';
import { createDeferred } from '../../base/util/index.js';
import type { FromEnginePipes, ToEnginePipes } from './engine-pipes-worker.js';
import { type EngineSpec, nameInMessages } from './engine-spec.js';

/** A fault of the engine; `message` is one sentence for the user. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    readonly kind: 'crash' | 'silence' | 'protocol',
    message: string,
  ) {
    super(message);
  }
}

interface Wait {
  /** Examines a line. @param sinceGoMs time since the last `go` @returns true to end the wait */
  accept(line: string, sinceGoMs: number): boolean;
  end(error?: EngineError): void;
}

/** Characters taken before the thread of the pipes is told; it stops reading an engine whose lines are not taken (MOST_AHEAD). */
const LEAST_TOLD = 1 << 16;

export class EngineProcess {
  private readonly engine: number;
  private wait: Wait | null = null;
  /** Characters taken since the thread was last told. */
  private taken = 0;
  /** Set once the process has ended. */
  private death: EngineError | null = null;
  private readonly gone = createDeferred();

  constructor(private readonly spec: EngineSpec) {
    this.engine = enginePipes.start(this, spec);
  }

  get isAlive(): boolean {
    return this.death === null;
  }

  send(line: string): void {
    if (this.death === null) enginePipes.post({ type: 'send', engine: this.engine, line });
  }

  /** Passes every line to `accept` and resolves when it returns true. */
  waitFor(what: string, timeoutMs: number, accept: Wait['accept']): Promise<void> {
    if (this.death !== null) return Promise.reject(this.death);
    if (this.wait !== null) throw new Error('Only one wait at a time');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const name = nameInMessages(this.spec);
        this.wait?.end(new EngineError('silence', `${name} sent no ${what} within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.wait = {
        accept,
        end: (error) => {
          clearTimeout(timer);
          this.wait = null;
          if (error === undefined) resolve();
          else reject(error);
        },
      };
    });
  }

  /** Asks the engine to quit; kills it if it does not. Resolves when the process has ended. */
  async close(): Promise<void> {
    if (this.death === null) enginePipes.post({ type: 'close', engine: this.engine });
    await this.gone.promise;
  }

  /** Called by the thread's owner. */
  receive(lines: readonly string[], sinceGoMs: number): void {
    this.taken += lines.reduce((sum, { length }) => sum + length, 0);
    if (this.taken > LEAST_TOLD) {
      enginePipes.post({ type: 'taken', engine: this.engine, characters: this.taken });
      this.taken = 0;
    }
    for (const line of lines) {
      const wait = this.wait;
      if (wait?.accept(line, sinceGoMs)) wait.end();
    }
  }

  /** Called by the thread's owner when the process has ended. */
  die(message: string): void {
    this.death ??= new EngineError('crash', message);
    this.wait?.end(this.death);
    this.gone.resolve();
  }
}

/** The thread of the pipes, started with the first engine. It keeps the process alive as long as an engine runs. */
class EnginePipesThread {
  private thread: Thread<ToEnginePipes> | null = null;
  private readonly engines = new Map<number, EngineProcess>();
  private started = 0;

  /** @returns the engine's number */
  start(owner: EngineProcess, spec: EngineSpec): number {
    const engine = ++this.started;
    this.engines.set(engine, owner);
    this.thread ??= this.open();
    this.thread.keepProcessAlive(true);
    this.thread.post({ type: 'start', engine, spec });
    return engine;
  }

  post(message: ToEnginePipes): void {
    this.thread?.post(message);
  }

  private open(): Thread<ToEnginePipes> {
    return startThread<ToEnginePipes, FromEnginePipes>(
      new URL('./engine-pipes-worker.js', import.meta.url),
      { name: 'engine pipes' },
      {
        onMessage: (message) => {
          const owner = this.engines.get(message.engine);
          if (message.type === 'lines') owner?.receive(message.lines, message.sinceGoMs);
          else this.remove(message.engine, message.message);
        },
        onError: (error) => {
          this.thread = null;
          for (const engine of [...this.engines.keys()])
            this.remove(engine, `The engines' thread ended: ${error.message}`);
        },
      },
    );
  }

  private remove(engine: number, message: string): void {
    this.engines.get(engine)?.die(message);
    this.engines.delete(engine);
    if (this.engines.size === 0) this.thread?.keepProcessAlive(false);
  }
}

const enginePipes = new EnginePipesThread();
