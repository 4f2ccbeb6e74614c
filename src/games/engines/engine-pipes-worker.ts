/**
 * The thread that owns the processes of all external engines. The main thread may be busy with its own searches for
 * milliseconds when an answer arrives, so it cannot measure an engine's time. This thread only reads and writes pipes, and
 * measures the time from writing `go` to the arrival of a line.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describeReadFailure } from '#platform/files.js';
import { onParentMessage, postToParent } from '#platform/threads.js';
import { isTooLong, LineReader, removeControls } from '../../base/util/index.js';
import { type EngineSpec, nameInMessages } from './engine-spec.js';

/** To this thread. The main thread numbers the engines. */
export type ToEnginePipes = { readonly engine: number } & (
  | { readonly type: 'start'; readonly spec: EngineSpec }
  | { readonly type: 'send'; readonly line: string }
  | { readonly type: 'close' }
  /** The main thread has processed this many characters. */
  | { readonly type: 'taken'; readonly characters: number }
);

/** From this thread. */
export type FromEnginePipes = { readonly engine: number } & (
  | {
      readonly type: 'lines';
      readonly lines: readonly string[];
      /** Milliseconds from the last `go` to the arrival of these lines. */
      readonly sinceGoMs: number;
    }
  /** The process has ended; the message is a sentence for the user. */
  | { readonly type: 'end'; readonly message: string }
);

const GRACE_MS = 2_000;
const KEPT_STDERR = 2_000;
/** If more characters than this are on their way to the main thread, the engine's output is not read. */
const MOST_AHEAD = 1 << 22;

class EnginePipes {
  private readonly child: ChildProcessWithoutNullStreams;
  private wentAt = 0;
  private errors = '';
  private lastLine = '';
  private hasEnded = false;
  private ahead = 0;

  constructor(
    private readonly engine: number,
    private readonly spec: EngineSpec,
  ) {
    this.child = startProgram(spec);
    const lines: string[] = [];
    const reader = new LineReader((line) => isTooLong(line) || lines.push(removeControls(line)));
    this.child.stdout.on('data', (chunk: Buffer) => {
      const sinceGoMs = performance.now() - this.wentAt;
      reader.push(chunk);
      this.ahead += lines.reduce((sum, { length }) => sum + length, 0);
      if (this.ahead > MOST_AHEAD) this.child.stdout.pause();
      this.lastLine = lines.findLast((line) => line !== '') ?? this.lastLine;
      if (lines.length > 0) report({ type: 'lines', engine, lines: lines.splice(0), sinceGoMs });
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + removeControls(text)).slice(-KEPT_STDERR);
    });
    // A write to a dead process fails; the exit event says why.
    this.child.stdin.on('error', () => undefined);
    this.child.on('error', (error) => this.end(`cannot be started: ${describeStartFailure(error, this.spec)}`));
    // If a script started the engine and died, the engine still holds the pipes; do not wait for it.
    this.child.on('exit', () => setTimeout(() => this.closePipes(), GRACE_MS).unref());
    this.child.on('close', (code, signal) => {
      this.end(`ended ${signal === null ? `with code ${code}` : `by ${signal}`}${this.describeLast()}`);
    });
  }

  send(line: string): void {
    if (line.startsWith('go')) this.wentAt = performance.now();
    this.child.stdin.write(`${line}\n`);
  }

  take(characters: number): void {
    this.ahead -= characters;
    if (this.ahead < MOST_AHEAD / 2) this.child.stdout.resume();
  }

  /** Asks the engine to quit and kills it if it does not. */
  close(): void {
    this.send('quit');
    this.child.stdin.end();
    setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS).unref();
  }

  private closePipes(): void {
    this.child.stdout.destroy();
    this.child.stderr.destroy();
  }

  private end(reason: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    engines.delete(this.engine);
    report({ type: 'end', engine: this.engine, message: `${nameInMessages(this.spec)} ${reason}` });
  }

  private describeLast(): string {
    const errors = this.errors.trim().split('\n').at(-1) ?? '';
    if (errors !== '') return `; it said: ${errors}`;
    return this.lastLine === '' ? '' : `; its last line was: ${this.lastLine}`;
  }
}

/** Throws when the system refuses the file at once. */
function startProgram({ command, args, folder }: EngineSpec): ChildProcessWithoutNullStreams {
  const options = { ...(folder === null ? {} : { cwd: folder }), windowsHide: true };
  if (process.platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(command)) return spawn(command, args, options);
  // Node starts batch files only through the command interpreter, which takes one string.
  const words = [command, ...args];
  if (words.some((word) => /["%\r\n]/.test(word))) throw new Error('arguments of a batch file may not hold " or %');
  const line = words.map((word) => `"${word}"`).join(' ');
  return spawn(process.env.ComSpec ?? 'cmd.exe', ['/d', '/s', '/c', `"${line}"`], {
    ...options,
    windowsVerbatimArguments: true,
  });
}

/** Codes for a file that is there and is no program, on the systems that we know. */
const NO_PROGRAM = ['EFTYPE', 'EINVAL', 'ENOEXEC', 'EBADARCH', 'UNKNOWN'];

function describeStartFailure(error: Error, { command, folder }: EngineSpec): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (NO_PROGRAM.includes(code)) return `${command} is no program for this system`;
  if (code !== 'ENOENT') return describeReadFailure(error);
  return folder === null || existsSync(folder) ? `there is no program ${command}` : `there is no folder ${folder}`;
}

const engines = new Map<number, EnginePipes>();

const report: (message: FromEnginePipes) => void = postToParent;

function start({ engine, spec }: Extract<ToEnginePipes, { type: 'start' }>): void {
  try {
    engines.set(engine, new EnginePipes(engine, spec));
  } catch (error) {
    const reason = describeStartFailure(error as Error, spec);
    report({ type: 'end', engine, message: `${nameInMessages(spec)} cannot be started: ${reason}` });
  }
}

onParentMessage((message: ToEnginePipes) => {
  const { engine } = message;
  if (message.type === 'start') start(message);
  else if (message.type === 'send') engines.get(engine)?.send(message.line);
  else if (message.type === 'taken') engines.get(engine)?.take(message.characters);
  else engines.get(engine)?.close();
});
