/**
 * One engine for several pages. One search runs at a time:
 * 1. jobs that need a quiet engine (options, tree, tablebases) come first and take milliseconds,
 * 2. then searches with an end (`think`: moves of a game, hints, reviews), first come, first served,
 * 3. then the one analysis. Whatever comes before it interrupts it, and afterwards it goes on in its tree. A page takes it from
 *    another one only where its user has done something; every page that wants it is told who has it.
 *
 * The desk knows no network protocol and no machine, so that it can also run inside a page.
 */

import type { OptionStore } from '../../base/options/index.js';
import { formatUciMove, type Move, NO_MOVE } from '../../chess/rules/index.js';
import {
  type BestMove,
  createInfo,
  createMoveStatistics,
  Engine,
  type EnginePorts,
  type GoRequest,
  type RootStats,
  type SearchReport,
} from '../../engine/core/index.js';
import type { MoveRow, PortEvent, SearchState, ThoughtReply } from '../protocol/replies.js';
import type { PositionText } from '../protocol/requests.js';

/** A page, as the desk sees it. */
export interface DeskClient {
  send(event: PortEvent): void;
}

/** UCI name → value; set for this search only. */
type TaskOptions = readonly (readonly [name: string, value: string])[];

/** Longest time between two reports. */
const INFO_INTERVAL_MS = 250;

/** The page depends on these, so that nobody else may choose them. */
const COMMON_OPTIONS: TaskOptions = [
  ['ScoreType', 'WDL_mu'],
  ['Skill Level', '20'],
  ['InfoIntervalMs', String(INFO_INTERVAL_MS)],
];

/** Names of the options that every search sets by itself; the page does not offer them. */
export const DESK_OPTIONS: ReadonlySet<string> = new Set([
  ...COMMON_OPTIONS.map(([name]) => name),
  'MultiPV',
  'VerboseMoveStats',
  'LogLiveStats',
  'UCI_LimitStrength',
  'UCI_Elo',
  'UCI_AnalyseMode',
  'UCI_Chess960',
  'UCI_ShowWDL',
  'UCI_ShowMovesLeft',
  'UCI_ShowEPS',
  'VerboseMoveStatsFormat',
  'UCI_Opponent',
  'UCI_RatingAdv',
  'Ponder',
  'PerPVCounters',
]);

interface TaskSettings {
  readonly position: PositionText;
  readonly request: GoRequest;
  readonly multiPv: number;
  /** Null = full strength. */
  readonly elo: number | null;
  /** Of an analysis: what the page says it analyses, for the other pages. */
  readonly about?: string;
}

export class DeskTask {
  report: SearchReport | null = null;
  stats: RootStats | null = null;
  /** It was told to end; its answer is on its way. */
  isEnding = false;
  /** Milliseconds of earlier runs of an analysis that was interrupted. */
  private earlierMs = 0;

  /** @param resolve what to do with the answer; null for an analysis, which goes on until it is stopped */
  constructor(
    readonly client: DeskClient,
    readonly id: number,
    readonly settings: TaskSettings,
    readonly resolve: ((thought: ThoughtReply) => void) | null,
    readonly reject: (error: Error) => void,
  ) {}

  get isAnalysis(): boolean {
    return this.resolve === null;
  }

  listOptions(): TaskOptions {
    const { multiPv, elo } = this.settings;
    const isAnalysis = String(this.isAnalysis);
    return [
      ...COMMON_OPTIONS,
      ['MultiPV', String(multiPv)],
      ['VerboseMoveStats', isAnalysis],
      ['LogLiveStats', isAnalysis],
      ['UCI_LimitStrength', String(elo !== null)],
      ...(elo === null ? [] : [['UCI_Elo', String(elo)] as const]),
    ];
  }

  createState(): SearchState | null {
    return this.report === null ? null : createSearchState(this.report, this.stats, this.earlierMs);
  }

  /** It will be started again from where it was. */
  prepareToResume(): void {
    this.earlierMs += this.report?.timeMs ?? 0;
    this.report = null;
    this.isEnding = false;
  }
}

/** Shortest time between two events of one search. */
const EVENT_INTERVAL_MS = 200;

export class EngineDesk {
  private readonly engine: Engine;
  private readonly jobs: (() => Promise<void> | void)[] = [];
  private readonly waiting: DeskTask[] = [];
  private analysis: DeskTask | null = null;
  /** Pages that have asked for an analysis. */
  private readonly analysts = new Set<DeskClient>();
  private current: DeskTask | null = null;
  /** The search that the engine's tree is of. */
  private last: DeskTask | null = null;
  private isBusyWithJob = false;
  private eventTimer: ReturnType<typeof setTimeout> | null = null;
  private lastEventAtMs = 0;
  private isDisposed = false;
  private lastError = '';
  private networkProblem = '';

  /** @param broadcast tells every page */
  constructor(
    readonly options: OptionStore,
    ports: EnginePorts,
    broadcast: (event: PortEvent) => void,
  ) {
    const tell = (level: 'note' | 'warning' | 'error') => (text: string) => broadcast({ type: 'notice', level, text });
    this.engine = new Engine(options, ports, {
      report: (report) => {
        if (this.current !== null) this.current.report = report;
        this.scheduleEvent();
      },
      moveStats: (stats) => {
        if (this.current !== null) this.current.stats = stats;
        this.scheduleEvent();
      },
      bestMove: (best) => this.finish(best),
      warning: tell('warning'),
      note: tell('note'),
      debug: () => undefined,
      error: (text) => {
        this.lastError = text;
        tell('error')(text);
        // An analysis that has failed waits for its stop; the others are answered by the engine.
        if (this.current?.isAnalysis) this.endAnalysis(text);
      },
    });
  }

  /** The loaded network in words; null while there is none. */
  get running(): string | null {
    return this.engine.network?.description ?? null;
  }

  /** Why there is no network; '' = there is one, or it is being loaded. */
  get problem(): string {
    return this.networkProblem;
  }

  /** Loads the network of the options, between two searches. @returns why it could not be loaded; '' when it was */
  prepare(): Promise<string> {
    return this.runQuietly(async () => {
      this.networkProblem = '';
      this.lastError = '';
      const network = await this.engine.prepare();
      if (network === null) this.networkProblem = this.lastError || 'No network could be loaded';
      return this.lastError || this.networkProblem;
    });
  }

  /** @param takes whether it replaces the analysis of another page; without, the page is only told who has the engine */
  analyse(task: DeskTask, takes: boolean): void {
    this.analysts.add(task.client);
    if (!takes && this.analysis !== null && this.analysis.client !== task.client) {
      this.tellHolder(task.client);
      return;
    }
    this.setAnalysis(task);
    if (this.current?.isAnalysis) this.interrupt();
    else this.pump();
  }

  /** Nothing happens when the client has no analysis. */
  stopAnalysis(client: DeskClient): void {
    if (this.analysis?.client !== client) return;
    this.setAnalysis(null);
    if (this.current?.isAnalysis) this.interrupt();
  }

  /** Whether the tree is the one of this client's analysis. */
  hasTreeOf(client: DeskClient): boolean {
    return this.last?.client === client && this.last.isAnalysis;
  }

  think(task: DeskTask): void {
    this.waiting.push(task);
    if (this.current?.isAnalysis) this.interrupt();
    else this.pump();
  }

  countWaiting(client: DeskClient): number {
    return this.waiting.filter((task) => task.client === client).length;
  }

  /** Ends a running `think` with what it has, and refuses one that waits. @param id its number; all of the client when left out */
  hurry(client: DeskClient, id?: number): void {
    const isMeant = (task: DeskTask): boolean => task.client === client && (id === undefined || task.id === id);
    for (const task of this.waiting.filter(isMeant)) {
      this.waiting.splice(this.waiting.indexOf(task), 1);
      task.reject(new Error('The search was cancelled'));
    }
    if (this.current !== null && isMeant(this.current) && !this.current.isAnalysis) this.interrupt();
  }

  /** The page is gone. */
  leave(client: DeskClient): void {
    this.analysts.delete(client);
    this.stopAnalysis(client);
    this.hurry(client);
  }

  /** Runs a job while no search runs; an analysis is interrupted for it and goes on afterwards. */
  runQuietly<T>(job: (engine: Engine) => Promise<T> | T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.jobs.push(async () => {
        try {
          resolve(await job(this.engine));
        } catch (error) {
          reject(error as Error);
        }
      });
      if (this.current?.isAnalysis) this.interrupt();
      else this.pump();
    });
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    if (this.eventTimer !== null) clearTimeout(this.eventTimer);
    this.analysis = null;
    this.waiting.length = 0;
    await this.engine.dispose();
  }

  private interrupt(): void {
    if (this.current === null || this.current.isEnding) return;
    this.current.isEnding = true;
    this.engine.stop();
  }

  private pump(): void {
    if (this.isDisposed || this.current !== null || this.isBusyWithJob) return;
    const job = this.jobs.shift();
    if (job !== undefined) {
      void this.runJob(job);
      return;
    }
    const task = this.waiting.shift() ?? this.analysis;
    if (task !== null && task !== undefined) this.begin(task);
  }

  private async runJob(job: () => Promise<void> | void): Promise<void> {
    this.isBusyWithJob = true;
    await job();
    this.isBusyWithJob = false;
    this.pump();
  }

  private begin(task: DeskTask): void {
    const { fen, moves } = task.settings.position;
    const placed = this.engine.setPosition(fen, moves);
    if (!placed.ok) {
      if (task === this.analysis) this.endAnalysis(placed.error);
      else task.reject(new Error(placed.error));
      this.pump();
      return;
    }
    for (const [name, value] of task.listOptions()) this.options.set(name, value);
    if (task.isAnalysis) task.prepareToResume();
    this.current = task;
    this.last = task;
    this.engine.go(task.settings.request);
  }

  private finish(best: BestMove): void {
    const task = this.current;
    if (task === null) return;
    this.emitState();
    this.current = null;
    const state = task.createState();
    if (task.resolve !== null) {
      if (state === null) task.reject(new Error('The search has said nothing'));
      else task.resolve({ best: best.move === NO_MOVE ? null : formatMove(best.move), state });
    }
    // The engine ends its own bookkeeping of this search first.
    queueMicrotask(() => this.pump());
  }

  private endAnalysis(reason: string): void {
    const task = this.analysis;
    if (task === null) return;
    task.client.send({ type: 'ended', id: task.id, reason });
    this.setAnalysis(null);
    if (this.current === task) this.interrupt();
  }

  private setAnalysis(task: DeskTask | null): void {
    this.analysis = task;
    for (const client of this.analysts) if (client !== task?.client) this.tellHolder(client);
  }

  private tellHolder(client: DeskClient): void {
    client.send({ type: 'holder', about: this.analysis?.settings.about ?? null });
  }

  private scheduleEvent(): void {
    if (this.eventTimer !== null) return;
    const dueInMs = Math.max(0, this.lastEventAtMs + EVENT_INTERVAL_MS - performance.now());
    this.eventTimer = setTimeout(() => this.emitState(), dueInMs);
  }

  private emitState(): void {
    if (this.eventTimer !== null) clearTimeout(this.eventTimer);
    this.eventTimer = null;
    const task = this.current;
    const state = task?.createState() ?? null;
    // Nobody waits for the last words of an analysis that was stopped or replaced.
    if (task === null || state === null || (task.isAnalysis && task !== this.analysis)) return;
    this.lastEventAtMs = performance.now();
    task.client.send({ type: 'search', id: task.id, state });
  }
}

/** Positions may be Chess960, so castling is always written as king takes rook. */
export function formatMove(move: Move): string {
  return formatUciMove(move, true);
}

/** @param earlierMs what the same analysis took before it was interrupted */
function createSearchState(report: SearchReport, stats: RootStats | null, earlierMs: number): SearchState {
  const { timeMs, nodes, nodesPerSecond, depth, seldepth, tablebaseHits, lines } = createInfo(report, true);
  return {
    timeMs: earlierMs + timeMs,
    nodes,
    nodesPerSecond,
    depth,
    seldepth,
    tablebaseHits,
    lines: lines.map(({ score, wdl, pv }) => ({ score, wdl, pv })),
    moves: stats === null ? [] : createMoveStatistics(stats, true).map(createRow),
  };
}

function createRow({
  row,
  move,
  visits,
  prior,
  draw,
  movesLeft,
}: ReturnType<typeof createMoveStatistics>[number]): MoveRow {
  const round = (value: number | null, digits: number): number | null =>
    value === null ? null : roundTo(value, digits);
  return {
    move,
    visits,
    prior: roundTo(prior, 5),
    draw: round(draw, 4),
    movesLeft: round(movesLeft, 1),
    q: roundTo(row.q, 5),
    u: round(row.u, 5),
    s: round(row.s, 5),
    v: round(row.v, 4),
    bound: row.bound,
  };
}

export function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
