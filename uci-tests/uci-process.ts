/**
 * An engine as a child process, used as a GUI uses it: lines in, lines out, and its exit status. By default the built program. The
 * same conversations run with the Worker of a web page (page-process.ts).
 */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { unwrap } from '#sardonyx/base/util/index.js';
import { parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import { isInPage, openPageProcess } from './page-process.js';

export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const MODELS = fileURLToPath(new URL('../../models/', import.meta.url));
export const TINY_NETWORK = `${MODELS}tiny-test.onnx`;
export const DEFAULT_NETWORK = `${MODELS}default.onnx`;
/** The protocol's behaviour does not depend on the network: a tiny one, or none, keeps the tests quick. */
const TINY = [`--weights=${TINY_NETWORK}`];
export const NO_NETWORK = ['--backend=random'];

/** For tests of flags, files, pipes and signals, which a page does not have. */
export const needsProcess = { skip: isInPage && 'only for the program' };

/** Long, because these tests are about answers, not about speed, and may run on a busy machine. */
const TIMEOUT_MS = 600_000;

interface Waiter {
  readonly matches: (line: string) => boolean;
  readonly resolve: (line: string) => void;
}

export interface ProcessOptions {
  readonly cwd?: string;
  /** The whole environment. */
  readonly env?: NodeJS.ProcessEnv;
}

export class UciProcess {
  private static readonly running = new Set<UciProcess>();
  /** All lines of its output. */
  readonly lines: string[] = [];
  stderr = '';
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves with the exit status (128 + n for a signal is null here). */
  readonly exited: Promise<number | null>;
  private rest = '';
  private waiters: Waiter[] = [];

  /** @param command a program to start, or what stands for a process */
  constructor(
    command: string | ChildProcessWithoutNullStreams,
    args: readonly string[] = [],
    options: ProcessOptions = {},
  ) {
    this.child = typeof command === 'string' ? spawn(command, args, options) : command;
    UciProcess.running.add(this);
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.receive(text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // Some tests write to a process that has ended.
    this.child.stdin.on('error', () => undefined);
    this.exited = new Promise((resolve) => this.child.on('close', (status) => resolve(status)));
    void this.exited.then(() => UciProcess.running.delete(this));
  }

  /** Kills the processes that are still running, for the end of a test file. */
  static killAll(): void {
    for (const engine of UciProcess.running) engine.child.kill('SIGKILL');
  }

  send(...lines: string[]): void {
    this.child.stdin.write(`${lines.join('\n')}\n`);
  }

  /** The next line that begins so (or matches). Lines that were printed before this call do not count. */
  async next(start: string | RegExp, timeoutMs = TIMEOUT_MS): Promise<string> {
    const matches =
      typeof start === 'string' ? (line: string) => line.startsWith(start) : (line: string) => start.test(line);
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        const tail = this.lines.slice(-5).join('\n');
        reject(new Error(`No line ${start} ${reason}; the last were:\n${tail}\n${this.stderr}`));
      };
      const timer = setTimeout(() => fail(`within ${timeoutMs} ms`), timeoutMs);
      void this.exited.then((status) => {
        clearTimeout(timer);
        fail(`before the process ended with status ${status}`);
      });
      this.waiters.push({
        matches,
        resolve: (line) => {
          clearTimeout(timer);
          resolve(line);
        },
      });
    });
  }

  /** Sends lines and returns all lines printed since, up to and including the first that begins so (or matches). */
  async ask(lines: string | readonly string[], until: string | RegExp): Promise<string[]> {
    const from = this.lines.length;
    const answer = this.next(until);
    this.send(...(typeof lines === 'string' ? [lines] : lines));
    await answer;
    return this.lines.slice(from);
  }

  /** Sets options and waits for `readyok`, so that later answers contain nothing of the start. */
  async start(...options: string[]): Promise<this> {
    await this.ask('uci', 'uciok');
    await this.ask([...options.map((option) => `setoption name ${option}`), 'isready'], 'readyok');
    return this;
  }

  /** Starts a search that goes on, and waits for its first report. */
  async begin(...lines: string[]): Promise<void> {
    const report = this.next('info');
    this.send(...lines);
    await report;
  }

  /** What was printed since a line, once all that was sent before is read. */
  async listSince(from: number): Promise<string[]> {
    await this.ask('isready', 'readyok');
    return this.lines.slice(from);
  }

  async quit(): Promise<number | null> {
    this.send('quit');
    return this.exited;
  }

  private receive(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines.map((text) => text.replace(/\r$/, ''))) {
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

function startProgram(args: readonly string[], environment: NodeJS.ProcessEnv = {}): UciProcess {
  if (isInPage) return new UciProcess(openPageProcess(args));
  return new UciProcess(process.execPath, [PROGRAM, ...args], { env: { ...process.env, ...environment } });
}

/**
 * Starts the program and kills it at the end of the test.
 * @param environment further variables
 */
export function openEngine(
  test: TestContext,
  args: readonly string[] = TINY,
  environment?: NodeJS.ProcessEnv,
): UciProcess {
  const engine = startProgram(args, environment);
  test.after(() => engine.child.kill('SIGKILL'));
  return engine;
}

/** Runs a test with a started program and checks that it ends with status 0 and an empty stderr. */
export async function withEngine(
  options: readonly string[],
  body: (engine: UciProcess) => Promise<void>,
  args: readonly string[] = TINY,
): Promise<void> {
  const engine = startProgram(args);
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

/** Lets an engine play a short game against itself and checks every move against the rules. @returns the moves */
export async function playGame(engine: UciProcess, plies: number, limit: string): Promise<string[]> {
  const position = unwrap(parseFen(START_FEN));
  const moves: string[] = [];
  await engine.ask(['ucinewgame', 'isready'], 'readyok');
  while (moves.length < plies) {
    const played = moves.length === 0 ? '' : ` moves ${moves.join(' ')}`;
    const answer = await engine.ask([`position startpos${played}`, `go ${limit}`], 'bestmove');
    assert.ok(
      answer.some((line) => /^info .*\bscore (cp|mate) -?\d+/.test(line)),
      answer.join('\n'),
    );
    const move = answer.at(-1)?.split(' ')[1] ?? '';
    if (move === '(none)') break;
    position.makeMove(unwrap(parseUciMove(position, move)));
    moves.push(move);
  }
  return moves;
}
