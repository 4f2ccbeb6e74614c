/**
 * A training loop as a page sees it: its state and games, and `sardonyx-train loop` to start and stop it and to choose
 * another best network. Folder, configuration and Python come from the command line; a page sends numbers alone.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { getProgramFolder } from '#platform/program-files.js';
import { cutText, decodeText, LineReader } from '../../base/util/index.js';
import { type PgnText, readPgn } from '../../chess/pgn/index.js';
import type { LoopServices } from '../desk/engine-services.js';
import type { LoopGameKind, LoopGames, LoopGeneration, LoopProgress, LoopState } from '../protocol/replies.js';

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
const LONGEST_LINE = 1000;
/** The loop waits for another process to leave the folder, and for its own libraries. */
const TIMEOUT_MS = 120_000;

export class LoopControl implements LoopServices {
  private readonly folder: string;
  private child: ChildProcess | null = null;
  private isStopping = false;
  /** The last lines that the loop has printed. */
  private readonly lines: string[] = [];

  /** Throws the sentence for the user when the folder or the configuration is missing. */
  constructor(private readonly settings: LoopSettings) {
    const { folder, config } = settings;
    this.folder = resolve(folder);
    const stats = statSync(this.folder, { throwIfNoEntry: false });
    if (config !== null && !existsSync(config)) throw new Error(`There is no configuration ${config}`);
    // A loop with a configuration of its own makes its folder.
    if (stats === undefined ? config === null : !stats.isDirectory()) {
      throw new Error(`There is no training loop in ${folder}: it is no folder`);
    }
  }

  read(): LoopState {
    const obstacle = this.findObstacle();
    const isRunning = this.child !== null;
    const hasBegun = existsSync(join(this.folder, 'state.json'));
    return {
      ...readLoopState(this.folder, !hasBegun && obstacle === ''),
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

  async countGames(generation: number): Promise<LoopGames> {
    const counts = { games: 0, gate: 0, measure: 0 };
    for (const kind of Object.keys(counts) as LoopGameKind[]) {
      for await (const _ of readGames(this.folder, generation, kind)) counts[kind]++;
    }
    return counts;
  }

  /** The PGN of one game, counted from 0 through all tasks. Rejects with the sentence for the user. */
  async readGame(generation: number, kind: LoopGameKind, game: number): Promise<string> {
    let number = 0;
    for await (const { text } of readGames(this.folder, generation, kind)) if (number++ === game) return text;
    throw new Error('There is no such game');
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
    const lines = new LineReader((line) => this.addLine(line));
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
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
      execFile(python, args, { timeout: TIMEOUT_MS, env: createEnvironment() }, (error, output, problem) => {
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

  private get config(): string {
    return this.settings.config ?? join(this.folder, 'loop.yaml');
  }

  private addLine(line: string): void {
    this.lines.push(cutText(line, LONGEST_LINE));
    if (this.lines.length > MOST_LINES) this.lines.shift();
  }

  private createCommand(...action: readonly string[]): string[] {
    const [own, others] = process.platform === 'win32' ? ['Scripts/python.exe', 'python'] : ['bin/python', 'python3'];
    const inFolder = join(getProgramFolder(), '.venv', own);
    const python = this.settings.python ?? (existsSync(inFolder) ? inFolder : others);
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

type Raw = Readonly<Record<string, unknown>>;

/** Stage → its games' folder, and the section of the configuration that says how many are to be played. */
const GAMES_OF_STAGE: ReadonlyMap<string, readonly [folder: string, section: string]> = new Map([
  ['selfplay', ['games', 'selfplay']],
  ['gate', ['gate', 'gate']],
  ['measure', ['measure', 'measure']],
]);
const SECONDS_PER_HOUR = 3600;

/** Throws the sentence for the user. @param isNew nothing has been written yet */
export function readLoopState(folder: string, isNew = false): Omit<LoopState, 'control'> {
  let raw: unknown = isNew ? {} : null;
  try {
    if (!isNew) raw = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
  } catch {
    // Told below.
  }
  if (!isRaw(raw)) throw new Error(`There is no training loop in ${folder}: its state.json cannot be read`);
  const current = (raw.current as Raw | undefined) ?? {};
  const generation = readNumber(current.number) ?? 0;
  const stage = typeof raw.stage === 'string' ? raw.stage : '';
  const networks = listNetworks(folder);
  return {
    folder,
    generation,
    stage,
    best: readNumber(raw.best) ?? 0,
    generations: listRows(raw.generations).map((row) => readGeneration(row, networks)),
    progress: readProgress(folder, generation, stage, raw.plan as Raw | undefined),
    hasFirstNetwork: networks.has(0),
    changes: listRows(raw.changes).map(describeChange),
  };
}

function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null;
}

function listRows(value: unknown): readonly Raw[] {
  return Array.isArray(value) ? value.filter(isRaw) : [];
}

/** The folder of a generation's games. @param number whole, from 0 */
function getGenerationFolder(folder: string, number: number): string {
  return join(folder, 'generations', String(number).padStart(4, '0'));
}

function readGeneration(row: Raw, networks: ReadonlySet<number>): LoopGeneration {
  const gate = row.gate as Raw | null | undefined;
  const measured = (row.measured ?? {}) as Raw;
  const number = readNumber(row.number) ?? 0;
  const games = readNumber(row.games);
  const seconds = (row.seconds ?? {}) as Raw;
  const playSeconds = readNumber(seconds.selfplay);
  return {
    number,
    games,
    positions: readNumber(row.positions),
    window: readNumber(row.window),
    gamesPerHour: games === null || !playSeconds ? null : (games * SECONDS_PER_HOUR) / playSeconds,
    seconds: Object.values(seconds).reduce<number>((sum, value) => sum + (readNumber(value) ?? 0), 0),
    policyLoss: readNumber(row.policy_loss),
    valueLoss: readNumber(row.value_loss),
    gate: gate == null ? null : [readNumber(gate.wins) ?? 0, readNumber(gate.draws) ?? 0, readNumber(gate.losses) ?? 0],
    promoted: typeof row.promoted === 'boolean' ? row.promoted : null,
    elo: readNumber(measured.elo),
    eloError: readNumber(measured.elo_error),
    hasNetwork: networks.has(number),
  };
}

/** Generations whose network is there with its checkpoint, so that the loop can go on from it. */
function listNetworks(folder: string): ReadonlySet<number> {
  const path = join(folder, 'networks');
  if (!existsSync(path)) return new Set();
  const files = new Set(readdirSync(path));
  return new Set(
    [...files].filter((file) => files.has(file.replace(/\.onnx$/, '.pt'))).map((file) => Number.parseInt(file, 10)),
  );
}

function readProgress(folder: string, generation: number, stage: string, plan: Raw | undefined): LoopProgress | null {
  const games = GAMES_OF_STAGE.get(stage);
  if (games === undefined) return null;
  const own = join(getGenerationFolder(folder, generation), games[0]);
  // Self-play without pause: games that no generation has taken yet.
  const path = stage === 'selfplay' && existsSync(join(folder, 'stream')) ? join(folder, 'stream') : own;
  const total = readNumber((plan?.[games[1]] as Raw | undefined)?.games);
  return { done: countGames(path), total };
}

/** Lines of results of all tasks, the first of each being its conditions; of a task and its unfinished copy, only the task. */
function countGames(path: string): number {
  if (!existsSync(path)) return 0;
  const tasks = readdirSync(path);
  const own = tasks.filter((task) => !task.endsWith('.part') || !tasks.includes(task.slice(0, -'.part'.length)));
  return own.reduce((sum, task) => {
    const results = join(path, task, 'games.jsonl');
    if (!statSync(results, { throwIfNoEntry: false })?.isFile()) return sum;
    return sum + (readFileSync(results, 'utf8').match(/"game":/g)?.length ?? 0);
  }, 0);
}

function describeChange({ kind, network, before, generation }: Raw): string {
  const verb = kind === 'rollback' ? 'went back to' : 'promoted';
  return `${verb} generation ${network} (the best was ${before}) in generation ${generation}`;
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Of all tasks, the unfinished ones aside. */
async function* readGames(folder: string, generation: number, kind: LoopGameKind): AsyncGenerator<PgnText, void, void> {
  const path = join(getGenerationFolder(folder, generation), kind);
  if (!existsSync(path)) return;
  for (const task of readdirSync(path).sort()) {
    const file = join(path, task, 'games.pgn');
    if (!task.endsWith('.part') && existsSync(file)) yield* readPgn(decodeText(createReadStream(file)));
  }
}
