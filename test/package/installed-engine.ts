/** A UCI engine as its users start it: a command, its pipes, its exit status, and whatever it writes to stderr. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/index.js';
import { unwrap } from '#sardonyx/util/index.js';

export interface ProcessOptions {
  readonly cwd?: string;
  /** The whole environment. */
  readonly env?: NodeJS.ProcessEnv;
}

const PATIENCE_MS = 60_000;

export class UciProcess {
  private static readonly all = new Set<UciProcess>();
  readonly lines: string[] = [];
  stderr = '';
  private readonly child: ChildProcess;
  private readonly startedAt = performance.now();
  private rest = '';
  private arrived: () => void = () => undefined;

  constructor(command: string, args: readonly string[] = [], options: ProcessOptions = {}) {
    this.child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    UciProcess.all.add(this);
    this.child.on('exit', () => UciProcess.all.delete(this));
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => this.receive(text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
  }

  /** For the end of a test file: nothing is left behind by a test that failed half-way. */
  static killAll(): void {
    for (const engine of UciProcess.all) engine.kill();
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  send(...lines: string[]): void {
    this.child.stdin?.write(`${lines.join('\n')}\n`);
  }

  /** Sends, and takes all lines up to and with the first that begins like `prefix`. */
  async ask(prefix: string, ...lines: string[]): Promise<string[]> {
    if (lines.length > 0) this.send(...lines);
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const index = this.lines.findIndex((line) => line.startsWith(prefix));
      if (index >= 0) return this.lines.splice(0, index + 1);
      if (performance.now() > deadline || this.child.exitCode !== null) {
        throw new Error(`No ${prefix}; stdout: ${this.lines.join(' | ')}; stderr: ${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.arrived = resolve;
        setTimeout(resolve, 200);
      });
    }
  }

  /** @returns the exit status */
  async quit(): Promise<number | null> {
    this.send('quit');
    return this.ended();
  }

  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  private receive(text: string): void {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop() ?? '';
    this.lines.push(...parts.map((line) => line.replace(/\r$/, '')));
    this.arrived();
  }
}

/** A short game of an engine against itself in which every move is checked against the rules. */
export async function playGame(engine: UciProcess, plies: number, limit: string): Promise<string[]> {
  const position = unwrap(parseFen(START_FEN));
  const moves: string[] = [];
  await engine.ask('readyok', 'ucinewgame', 'isready');
  while (moves.length < plies) {
    const played = moves.length === 0 ? '' : ` moves ${moves.join(' ')}`;
    const answer = await engine.ask('bestmove', `position startpos${played}`, `go ${limit}`);
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
