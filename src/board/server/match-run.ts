/** `sardonyx match` in a process of its own: the boards that it shows, what it complains of, and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { LivePosition } from '../../selfplay/index.js';
import type { LiveBoard } from '../protocol/replies.js';

const PAUSE_PATIENCE_MS = 1000;
const LONGEST_COMPLAINT = 2000;

export class MatchRun {
  private readonly child: ChildProcess;
  private readonly live = new Map<number, { readonly position: LivePosition; readonly atMs: number }>();
  private errors = '';
  /** It was told to pause. */
  private isStopping = false;
  /** Resolves with why it ended before its time; '' = it did not. Never rejects. */
  readonly end: Promise<string>;

  constructor([program, ...args]: readonly string[]) {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    this.child = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.takeLine(line));
    child.stderr.on('data', (chunk) => {
      this.errors = `${this.errors}${chunk}`.slice(-LONGEST_COMPLAINT);
    });
    this.end = new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('close', (status) => {
        const isFine = status === 0 || this.isStopping;
        resolve(isFine ? '' : (this.errors.trim().split('\n').at(-1) ?? 'The match ended without a reason'));
      });
    });
  }

  get processId(): number | undefined {
    return this.child.pid;
  }

  /** The running games by their numbers. */
  listBoards(nowMs = Date.now()): LiveBoard[] {
    return [...this.live.values()]
      .sort((a, b) => a.position.game - b.position.game)
      .map(({ position, atMs }) => ({ ...position, ageMs: nowMs - atMs }));
  }

  /** A match outlives being killed: a game that was cut short is played again. */
  pause(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.child.kill('SIGINT');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), PAUSE_PATIENCE_MS);
    void this.end.then(() => clearTimeout(timer));
  }

  private takeLine(line: string): void {
    // The report at the end is no JSON.
    if (!line.startsWith('{"type":')) return;
    const news = JSON.parse(line) as { type: 'result'; game: number } | ({ type: 'position' } & LivePosition);
    if (news.type === 'result') this.live.delete(news.game);
    else if (news.type === 'position') {
      const { type: _type, ...position } = news;
      this.live.set(position.game, { position, atMs: Date.now() });
    }
  }
}
