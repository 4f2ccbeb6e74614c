/**
 * A training loop as a page sees it: its state and games, and `sardonyx-train loop` to start and stop it and to choose
 * another best network. Folder, configuration and Python come from the command line; a page sends numbers alone.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { getProgramFolder } from '#platform/program-files.js';
import type { LoopServices } from '../desk/page-session.js';
import type { LoopGameKind, LoopGames, LoopState } from '../protocol/replies.js';
import { countLoopGames, readLoopGame, readLoopState } from './loop-state.js';

export interface LoopSettings {
  readonly folder: string;
  /** YAML file; null = the configuration that the loop has written into its folder. */
  readonly config: string | null;
  /** Null = the one of .venv beside the program, or python3. */
  readonly python: string | null;
}

/** Where the Python package lies; a Python into which it is not installed finds it there. */
const PACKAGE = 'scripts/train';
const MOST_LINES = 12;
/** The loop waits for another process to leave the folder, and for its own libraries. */
const PATIENCE_MS = 120_000;

const NOT_BEGUN: Omit<LoopState, 'control'> = {
  folder: '',
  generation: 0,
  stage: '',
  best: 0,
  generations: [],
  current: null,
  progress: null,
  hasFirstNetwork: false,
  changes: [],
};

export class LoopControl implements LoopServices {
  private readonly folder: string;
  private child: ChildProcess | null = null;
  private isStopping = false;
  /** The last lines that the loop has printed. */
  private readonly lines: string[] = [];

  constructor(private readonly settings: LoopSettings) {
    this.folder = resolve(settings.folder);
  }

  read(): LoopState {
    const obstacle = this.findObstacle();
    const isRunning = this.child !== null;
    const hasBegun = existsSync(join(this.folder, 'state.json'));
    return {
      ...(hasBegun || obstacle !== '' ? readLoopState(this.folder) : NOT_BEGUN),
      folder: this.settings.folder,
      control: {
        obstacle,
        isRunning,
        isStopping: this.isStopping,
        isElsewhere: !isRunning && isLocked(join(this.folder, 'lock')),
        lines: [...this.lines],
      },
    };
  }

  countGames(generation: number): Promise<LoopGames> {
    return countLoopGames(this.folder, generation);
  }

  readGame(generation: number, kind: LoopGameKind, game: number): Promise<string> {
    return readLoopGame(this.folder, generation, kind, game);
  }

  start(): void {
    if (this.child !== null) return;
    this.requireFree();
    const [python, ...args] = this.createCommand();
    const child = spawn(python, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      windowsHide: true,
      env: createEnvironment(),
    });
    this.child = child;
    this.isStopping = false;
    this.lines.length = 0;
    createInterface({ input: child.stderr }).on('line', (line) => this.addLine(line));
    const end = (): void => {
      const missing = findMissingPackage(this.lines.join('\n'));
      if (missing !== null) this.lines.splice(0, this.lines.length, describeMissing(python, missing));
      this.child = null;
      this.isStopping = false;
    };
    child.on('error', (error) => {
      this.addLine(error.message);
      end();
    });
    // After the last of its words.
    child.on('close', end);
  }

  /** The loop finishes what it writes, which takes seconds. */
  stop(): void {
    if (this.child === null || this.isStopping) return;
    this.isStopping = true;
    this.child.kill('SIGINT');
  }

  /** Rejects with the sentence for the user. @returns what was changed, in words */
  async changeBest(kind: 'promote' | 'rollback', network: number): Promise<string> {
    if (this.child !== null) throw new Error('The loop is running: stop it first');
    this.requireFree();
    const [python, ...args] = this.createCommand(`--${kind}`, String(network));
    return new Promise((resolvePromise, reject) => {
      execFile(python, args, { timeout: PATIENCE_MS, env: createEnvironment() }, (error, output, problem) => {
        if (error === null) {
          resolvePromise(output.trim());
          return;
        }
        const missing = findMissingPackage(problem);
        const lastLine = problem
          .trim()
          .split('\n')
          .at(-1)
          ?.replace(/^loop: /, '');
        reject(new Error(missing === null ? lastLine || error.message : describeMissing(python, missing)));
      });
    });
  }

  close(): void {
    this.stop();
  }

  private get config(): string {
    return this.settings.config ?? join(this.folder, 'loop.yaml');
  }

  private addLine(line: string): void {
    this.lines.push(line);
    if (this.lines.length > MOST_LINES) this.lines.shift();
  }

  private createCommand(...action: readonly string[]): string[] {
    const own = join(getProgramFolder(), '.venv', 'bin', 'python');
    const python = this.settings.python ?? (existsSync(own) ? own : 'python3');
    // The configuration in the folder may name it relative to where the loop was started.
    const folder = ['--set', `run.out=${this.folder}`];
    return [python, '-m', 'sardonyx_train', 'loop', '--config', this.config, ...folder, ...action];
  }

  /** Why the loop cannot be started here, in one sentence; '' = it can. */
  private findObstacle(): string {
    if (!existsSync(join(getProgramFolder(), PACKAGE))) return `This program comes without ${PACKAGE}`;
    return existsSync(this.config) ? '' : `There is no configuration ${this.config}: name one by --loop-config`;
  }

  private requireFree(): void {
    const obstacle = this.findObstacle();
    if (obstacle !== '') throw new Error(obstacle);
    if (isLocked(join(this.folder, 'lock'))) throw new Error('Another process runs this loop: stop it first');
  }
}

function createEnvironment(): NodeJS.ProcessEnv {
  const paths = [join(getProgramFolder(), PACKAGE), process.env.PYTHONPATH ?? ''].filter((path) => path !== '');
  return { ...process.env, PYTHONPATH: paths.join(delimiter) };
}

function findMissingPackage(words: string): string | null {
  return /ModuleNotFoundError: No module named '([^']+)'/.exec(words)?.[1] ?? null;
}

function describeMissing(python: string, name: string): string {
  return `${python} lacks the package ${name}: install it by "pip install ${PACKAGE}", or name another Python by --python`;
}

/** Whether a process holds the loop's lock; false where the system does not tell (all but Linux). */
function isLocked(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return false;
  try {
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .some((line) => / FLOCK /.test(line) && line.split(/\s+/).some((word) => word.endsWith(`:${file.ino}`)));
  } catch {
    return false;
  }
}
