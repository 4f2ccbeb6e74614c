/** The built program as a child process, spoken to as a GUI does: lines in, lines out, nothing shared but the pipes. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const MODELS = fileURLToPath(new URL('../../models/', import.meta.url));
export const TINY_NETWORK = `${MODELS}tiny-test.onnx`;
export const DEFAULT_NETWORK = `${MODELS}default.onnx`;
/** The protocol's behaviour does not depend on the network: a tiny one, or none, keeps the tests quick. */
const TINY = [`--weights=${TINY_NETWORK}`];
export const NO_NETWORK = ['--backend=random'];

/** Generous: these tests are about answers, not about speed, and may run on a busy machine. */
const PATIENCE_MS = 30000;

interface Waiter {
  readonly matches: (line: string) => boolean;
  readonly resolve: (line: string) => void;
}

export class UciProcess {
  /** Everything it has printed. */
  readonly lines: string[] = [];
  stderr = '';
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves with the exit status (128 + n for a signal is null here). */
  readonly exited: Promise<number | null>;
  private rest = '';
  private waiters: Waiter[] = [];

  constructor(args: readonly string[] = TINY, environment: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...process.env, ...environment } });
    this.child.stdout.on('data', (chunk: Buffer) => this.receive(chunk.toString()));
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    // Writing to a process that has ended is what some tests are about.
    this.child.stdin.on('error', () => undefined);
    this.exited = new Promise((resolve) => this.child.on('close', (status) => resolve(status)));
  }

  send(...lines: string[]): void {
    this.child.stdin.write(`${lines.join('\n')}\n`);
  }

  /** The next line that starts so (or matches); what is printed before this call does not count. */
  async next(start: string | RegExp, patienceMs = PATIENCE_MS): Promise<string> {
    const matches =
      typeof start === 'string' ? (line: string) => line.startsWith(start) : (line: string) => start.test(line);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const tail = this.lines.slice(-5).join('\n');
        reject(new Error(`No line ${start} within ${patienceMs} ms; the last were:\n${tail}\n${this.stderr}`));
      }, patienceMs);
      this.waiters.push({
        matches,
        resolve: (line) => {
          clearTimeout(timer);
          resolve(line);
        },
      });
    });
  }

  /** Sends lines and returns everything printed up to the answer, that included. */
  async ask(lines: string | readonly string[], until: string | RegExp): Promise<string[]> {
    const from = this.lines.length;
    const answer = this.next(until);
    this.send(...(typeof lines === 'string' ? [lines] : lines));
    await answer;
    return this.lines.slice(from);
  }

  /** Up to `readyok`, so that nothing of the start is measured or misread later. */
  async start(...options: string[]): Promise<this> {
    await this.ask('uci', 'uciok');
    await this.ask([...options.map((option) => `setoption name ${option}`), 'isready'], 'readyok');
    return this;
  }

  async quit(): Promise<number | null> {
    this.send('quit');
    return this.exited;
  }

  private receive(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      this.lines.push(line);
      const [met, open] = [
        this.waiters.filter((waiter) => waiter.matches(line)),
        this.waiters.filter((waiter) => !waiter.matches(line)),
      ];
      this.waiters = open;
      for (const { resolve } of met) resolve(line);
    }
  }
}

/**
 * An engine that does not outlive its test, however that ends.
 * @param environment further variables
 */
export function openEngine(test: TestContext, args?: readonly string[], environment?: NodeJS.ProcessEnv): UciProcess {
  const engine = new UciProcess(args, environment);
  test.after(() => engine.child.kill('SIGKILL'));
  return engine;
}

/** Runs a test against a started engine and makes sure that it ends, quietly. */
export async function withEngine(
  options: readonly string[],
  body: (engine: UciProcess) => Promise<void>,
  args: readonly string[] = TINY,
): Promise<void> {
  const engine = new UciProcess(args);
  try {
    await engine.start(...options);
    await body(engine);
    const status = await engine.quit();
    if (status !== 0) throw new Error(`The engine ended with status ${status}: ${engine.stderr}`);
    if (engine.stderr !== '') throw new Error(`stderr should be silent, but: ${engine.stderr}`);
  } finally {
    engine.child.kill('SIGKILL');
  }
}

/** What fastchess and python-chess ask of an info line: whole numbers after time, nps, score cp and the like. */
export function findInfoProblem(line: string): string {
  const words = line.split(' ');
  if (words[0] !== 'info') return 'no info line';
  for (const word of ['depth', 'seldepth', 'time', 'nodes', 'nps', 'tbhits', 'cp', 'mate']) {
    const at = words.indexOf(word);
    if (at >= 0 && !/^-?\d+$/.test(words[at + 1] ?? '')) return `${word} is followed by ${words[at + 1]}`;
  }
  return words.includes('score') ? '' : 'no score';
}
