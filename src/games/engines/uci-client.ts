/**
 * The GUI's side of a UCI conversation with an external engine. Every method waits for the engine's answer; await each call
 * before the next. All errors are EngineErrors.
 */
import { EngineError, EngineProcess } from './engine-process.js';
import type { EngineSpec } from './engine-spec.js';
import { InfoLines, parseInfoLine, type UciInfo } from './info-lines.js';

export interface UciTimeouts {
  /** From the start of the process to `uciok`, and for `readyok` (a network may be loading). */
  readonly startMs: number;
  /** From `go` to `bestmove` in a search without clock. */
  readonly moveMs: number;
}

export const DEFAULT_TIMEOUTS: UciTimeouts = { startMs: 60_000, moveMs: 600_000 };

export interface UciClocks {
  readonly whiteMs: number;
  readonly blackMs: number;
  readonly whiteIncrementMs: number;
  readonly blackIncrementMs: number;
  readonly movesToGo: number | null;
}

/** Null is as absent. */
export interface UciLimits {
  readonly nodes?: number | null;
  readonly depth?: number | null;
  readonly movetimeMs?: number | null;
  readonly clocks?: UciClocks | null;
  /** Whether scores that are only bounds count; if not, the score of the iteration before replaces them. */
  readonly countsBounds?: boolean;
}

export interface UciAnswer {
  readonly bestMove: string;
  /** From `go` to `bestmove`, measured in the thread of the pipes. */
  readonly timeMs: number;
  /** The engine's last line of each rank, best first; empty when the engine gave no score. */
  readonly lines: readonly UciInfo[];
}

export class UciClient {
  /** Option names by their lower-case spelling. */
  private readonly optionNames = new Map<string, string>();
  private reportedName = '';
  private playsChess960 = false;

  private constructor(
    private readonly process: EngineProcess,
    private readonly spec: EngineSpec,
    private readonly timeouts: UciTimeouts,
  ) {}

  /** Starts the process, sets the options and waits until it is ready. */
  static async start(spec: EngineSpec, timeouts: UciTimeouts = DEFAULT_TIMEOUTS): Promise<UciClient> {
    const client = new UciClient(new EngineProcess(spec), spec, timeouts);
    try {
      await client.introduce();
      for (const [name, value] of spec.options) client.setOption(name, value);
      await client.waitUntilReady();
    } catch (error) {
      await client.close();
      throw error;
    }
    return client;
  }

  get name(): string {
    return this.spec.name ?? (this.reportedName === '' ? this.spec.command : this.reportedName);
  }

  get isAlive(): boolean {
    return this.process.isAlive;
  }

  /** Throws if the engine has no such option. */
  setOption(name: string, value: string): void {
    const known = this.optionNames.get(name.toLowerCase());
    if (known === undefined) throw new EngineError('protocol', `${this.name} has no option "${name}"`);
    this.process.send(`setoption name ${known} value ${value}`);
  }

  /** Whether castling is written as king takes rook from now on. Throws if the engine has no UCI_Chess960. */
  setChess960(isOn: boolean): void {
    if (isOn !== this.playsChess960) this.setOption('UCI_Chess960', String(isOn));
    this.playsChess960 = isOn;
  }

  async newGame(): Promise<void> {
    this.process.send('ucinewgame');
    await this.waitUntilReady();
  }

  async waitUntilReady(): Promise<void> {
    this.process.send('isready');
    await this.process.waitFor('readyok', this.timeouts.startMs, (line) => line.trim() === 'readyok');
  }

  /**
   * @param position the words after `position`: "startpos moves e2e4"
   * @param timeoutMs longest time to wait for `bestmove`, after which it rejects
   */
  async go(position: string, limits: UciLimits, timeoutMs = this.timeouts.moveMs): Promise<UciAnswer> {
    const lines = new InfoLines(limits.countsBounds);
    let best: string[] = [];
    let timeMs = 0;
    this.process.send(`position ${position}`);
    this.process.send(formatGo(limits));
    await this.process.waitFor('bestmove', timeoutMs, (line, sinceGoMs) => {
      if (line.startsWith('bestmove')) {
        timeMs = sinceGoMs;
        best = line.trim().split(/\s+/);
        return true;
      }
      const info = parseInfoLine(line);
      if (info !== null) lines.add(info);
      return false;
    });
    if (best.length < 2) throw new EngineError('protocol', `${this.name} sent bestmove without a move`);
    return { bestMove: best[1], timeMs, lines: lines.list() };
  }

  async close(): Promise<void> {
    await this.process.close();
  }

  private async introduce(): Promise<void> {
    this.process.send('uci');
    await this.process.waitFor('uciok', this.timeouts.startMs, (line) => {
      if (line.startsWith('id name ')) this.reportedName = line.slice('id name '.length).trim();
      const option = /^option name (.+?) type \w+/.exec(line);
      if (option !== null) this.optionNames.set(option[1].toLowerCase(), option[1]);
      return line.trim() === 'uciok';
    });
  }
}

export function formatGo({ clocks = null, nodes = null, depth = null, movetimeMs = null }: UciLimits): string {
  const words = ['go'];
  if (clocks !== null) {
    const { whiteMs, blackMs, whiteIncrementMs, blackIncrementMs, movesToGo } = clocks;
    words.push('wtime', String(Math.round(whiteMs)), 'btime', String(Math.round(blackMs)));
    words.push('winc', String(Math.round(whiteIncrementMs)), 'binc', String(Math.round(blackIncrementMs)));
    if (movesToGo !== null) words.push('movestogo', String(movesToGo));
  }
  if (nodes !== null) words.push('nodes', String(nodes));
  if (depth !== null) words.push('depth', String(depth));
  if (movetimeMs !== null) words.push('movetime', String(movetimeMs));
  return words.join(' ');
}
