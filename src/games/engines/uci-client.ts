/**
 * The GUI's side of a UCI conversation with an external engine. Every method waits for the engine's answer; await each call
 * before the next. All errors are EngineErrors. Also reads the `info` lines of a search.
 */
import { EngineError, EngineProcess } from './engine-process.js';
import type { EngineSpec } from './engine-spec.js';

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

export interface UciLimits {
  readonly nodes?: number;
  readonly depth?: number;
  readonly movetimeMs?: number;
  readonly clocks?: UciClocks;
  /** Whether scores that are only bounds count; if not, the score of the iteration before replaces them. */
  readonly countsBounds?: boolean;
}

export interface UciAnswer {
  readonly bestMove: string;
  readonly ponder: string | null;
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
    const client = new UciClient(new EngineProcess(spec, spec.name ?? spec.command), spec, timeouts);
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
    const ponder = best[2] === 'ponder' ? (best[3] ?? null) : null;
    return { bestMove: best[1], ponder, timeMs, lines: lines.list() };
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

export function formatGo(limits: UciLimits): string {
  const words = ['go'];
  if (limits.clocks !== undefined) {
    const { whiteMs, blackMs, whiteIncrementMs, blackIncrementMs, movesToGo } = limits.clocks;
    words.push('wtime', String(Math.round(whiteMs)), 'btime', String(Math.round(blackMs)));
    words.push('winc', String(Math.round(whiteIncrementMs)), 'binc', String(Math.round(blackIncrementMs)));
    if (movesToGo !== null) words.push('movestogo', String(movesToGo));
  }
  if (limits.nodes !== undefined) words.push('nodes', String(limits.nodes));
  if (limits.depth !== undefined) words.push('depth', String(limits.depth));
  if (limits.movetimeMs !== undefined) words.push('movetime', String(limits.movetimeMs));
  return words.join(' ');
}

// Collects the `info` lines of one search: the last line of each rank. Engines print MultiPV lines in blocks that begin with
// rank 1. A move can change its rank between blocks, so lines of two blocks must not be mixed. If the search ends within a
// block, moves of the previous block complete it. If a score is only a bound, the previous block's score replaces it, unless
// bounds are to count.

// The `info` lines of a UCI engine, as far as matches and labels use them. Unknown words are skipped. A line without a
// score and a move (`info string`, `currmove`, hash tables) gives null.

export interface UciScore {
  /** Centipawns, or moves to mate (negative: the mover is mated). */
  readonly kind: 'cp' | 'mate';
  readonly value: number;
}

export interface UciInfo {
  /** Rank of the line in MultiPV, 1 = best. */
  readonly rank: number;
  readonly depth: number;
  readonly seldepth: number;
  /** From the mover's view. */
  readonly score: UciScore;
  /** A bound of an unfinished search window, not the score itself. */
  readonly isBound: boolean;
  readonly nodes: number;
  readonly timeMs: number;
  readonly pv: readonly string[];
}

export function parseInfoLine(line: string): UciInfo | null {
  if (!line.startsWith('info ')) return null;
  const words = line.split(/\s+/);
  let rank = 1;
  let depth = 0;
  let seldepth = 0;
  let score: UciScore | null = null;
  let isBound = false;
  let nodes = 0;
  let timeMs = 0;
  let pv: string[] = [];
  for (let i = 1; i < words.length; i++) {
    const word = words[i];
    if (word === 'string') break;
    if (word === 'pv') {
      pv = words.slice(i + 1).filter((move) => move !== '');
      break;
    }
    if (word === 'lowerbound' || word === 'upperbound') isBound = true;
    else if (word === 'score') {
      const kind = words[i + 1];
      const value = Number(words[i + 2]);
      if ((kind === 'cp' || kind === 'mate') && Number.isFinite(value)) score = { kind, value };
      i += 2;
    } else if (word === 'multipv') rank = Number(words[++i]);
    else if (word === 'depth') depth = Number(words[++i]);
    else if (word === 'seldepth') seldepth = Number(words[++i]);
    else if (word === 'nodes') nodes = Number(words[++i]);
    else if (word === 'time') timeMs = Number(words[++i]);
  }
  if (score === null || pv.length === 0 || !(rank >= 1)) return null;
  return { rank, depth, seldepth, score, isBound, nodes, timeMs, pv };
}

/** Larger than any centipawn score: a mate in n is ±(MATE_BASE − 2n). */
export const MATE_BASE = 32_000;
/** Limit of centipawns, below the code of the longest mate. */
const LARGEST_CENTIPAWNS = 30_000;

/** Centipawns with mates coded as ±(32000 − 2n), so that scores compare as numbers. "mate 0" is a mated mover. */
export function encodeScore(score: UciScore): number {
  if (score.kind === 'cp') {
    return Math.max(-LARGEST_CENTIPAWNS, Math.min(LARGEST_CENTIPAWNS, Math.round(score.value)));
  }
  const coded = MATE_BASE - 2 * Math.min(Math.abs(score.value), 999);
  return score.value > 0 ? coded : -coded;
}

/** Moves to mate of a coded score, null when it is centipawns. */
export function decodeMate(score: number): number | null {
  if (Math.abs(score) <= LARGEST_CENTIPAWNS) return null;
  const moves = Math.round((MATE_BASE - Math.abs(score)) / 2);
  return score > 0 ? moves : -moves;
}

export class InfoLines {
  private previous: UciInfo[] = [];
  private current: UciInfo[] = [];

  /** @param countsBounds whether a bound counts as a score */
  constructor(private readonly countsBounds = false) {}

  add(info: UciInfo): void {
    if (info.rank === 1 && this.current.length > 0) {
      this.previous = this.fill();
      this.current = [];
    }
    const mustReplace = info.isBound && !this.countsBounds;
    const exact = mustReplace ? this.previous.find((line) => line.pv[0] === info.pv[0]) : undefined;
    this.current.push(exact === undefined ? info : { ...exact, rank: info.rank });
  }

  /** Best first as the engine ranks them; no move twice. */
  list(): UciInfo[] {
    return this.fill();
  }

  private fill(): UciInfo[] {
    const lines: UciInfo[] = [];
    for (const line of [...this.current, ...this.previous]) {
      const isNew = lines.every((other) => other.pv[0] !== line.pv[0]);
      if (isNew && (lines.length < this.current.length || lines.length < this.previous.length)) {
        lines.push({ ...line, rank: lines.length + 1 });
      }
    }
    return lines;
  }
}
