/**
 * An engine's process as lines in and lines out. One caller at a time waits for a line it wants; a process that ends,
 * fails to start or stays silent too long rejects that wait with one sentence naming the engine.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describeReadFailure, LineReader } from '../../util/index.js';
import type { EngineSpec } from './engine-spec.js';

/** Something the engine did wrong; `message` is fit for a user's eyes. */
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
  /** Looks at a line; true ends the wait. */
  accept(line: string): boolean;
  resolve(): void;
  reject(error: EngineError): void;
}

const GRACE_MS = 2_000;
const KEPT_STDERR = 2_000;

export class EngineProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private wait: Wait | null = null;
  private readonly reader = new LineReader((line) => this.receive(line));
  private errors = '';
  private lastLine = '';
  /** Set once the process is gone. */
  private death: EngineError | null = null;
  private readonly gone: Promise<void>;

  constructor(
    spec: EngineSpec,
    /** How messages call the engine. */
    private readonly label: string,
  ) {
    this.child = spawn(spec.command, spec.args, {
      ...(spec.folder === null ? {} : { cwd: spec.folder }),
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.child.stdout.on('data', (chunk: Buffer) => this.reader.push(chunk));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-KEPT_STDERR);
    });
    // A write to a dead process: the exit event says it better.
    this.child.stdin.on('error', () => undefined);
    this.gone = new Promise((resolve) => {
      this.child.on('error', (error) => {
        this.die(`${this.label} cannot be started: ${describeStartFailure(error, spec)}`);
        resolve();
      });
      // An engine started by a script that died may still hold the pipes: it would be waited for without end.
      this.child.on('exit', () => setTimeout(() => this.closePipes(), GRACE_MS).unref());
      this.child.on('close', (code, signal) => {
        this.die(`${this.label} ended ${signal === null ? `with code ${code}` : `by ${signal}`}${this.describeLast()}`);
        resolve();
      });
    });
  }

  get isAlive(): boolean {
    return this.death === null;
  }

  send(line: string): void {
    if (this.death === null) this.child.stdin.write(`${line}\n`);
  }

  /** Resolves at the first line that `accept` takes; every line until then is shown to it. */
  waitFor(what: string, timeoutMs: number, accept: (line: string) => boolean): Promise<void> {
    if (this.death !== null) return Promise.reject(this.death);
    if (this.wait !== null) throw new Error('Only one wait at a time');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.wait?.reject(new EngineError('silence', `${this.label} sent no ${what} within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      const finish = (): void => {
        clearTimeout(timer);
        this.wait = null;
      };
      this.wait = {
        accept,
        resolve: () => {
          finish();
          resolve();
        },
        reject: (error) => {
          finish();
          reject(error);
        },
      };
    });
  }

  /** Asks the engine to quit and kills it if it does not. */
  async close(): Promise<void> {
    this.send('quit');
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS);
    await this.gone;
    clearTimeout(timer);
  }

  private closePipes(): void {
    this.child.stdout.destroy();
    this.child.stderr.destroy();
  }

  private receive(line: string): void {
    if (line !== '') this.lastLine = line;
    const wait = this.wait;
    if (wait?.accept(line)) wait.resolve();
  }

  private die(message: string): void {
    this.death ??= new EngineError('crash', message);
    this.wait?.reject(this.death);
  }

  private describeLast(): string {
    const errors = this.errors.trim().split('\n').at(-1) ?? '';
    if (errors !== '') return `; it said: ${errors}`;
    return this.lastLine === '' ? '' : `; its last line was: ${this.lastLine}`;
  }
}

function describeStartFailure(error: Error, { command, folder }: EngineSpec): string {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return describeReadFailure(error);
  return folder === null || existsSync(folder) ? `there is no program ${command}` : `there is no folder ${folder}`;
}
