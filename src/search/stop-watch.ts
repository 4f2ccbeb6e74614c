/**
 * When a search ends by itself: its own clock, the clock of the game, and the stoppers, which are asked after each batch.
 * It decides nothing about searches that have to wait for `stop`; whoever runs them does.
 */
import { GameClock } from './game-clock.js';
import { createIterationStats } from './iteration-stats.js';
import type { SearchParams } from './params.js';
import type { SearchLimits } from './search-protocol.js';
import { createStoppers, type Hints, resetHints, type Stopper } from './stoppers.js';

/** A search that reaches so much of its rate limit is held back by it. */
const BINDING_SHARE = 0.9;

export class StopWatch {
  /** The times are kept here; the rest is filled by whoever knows the tree. */
  readonly stats = createIterationStats();
  readonly hints: Readonly<Hints>;
  private readonly ownHints: Hints = { remainingMs: 0, remainingPlayouts: 0, nps: null };
  private readonly gameClock = new GameClock();
  private stoppers: Stopper[] = [];
  private limits: SearchLimits = { startedAtMs: 0 };
  /** Of the running search; 0 = not yet. */
  private firstBatchAtMs = 0;
  /** Playouts a second at most; 0 = as many as it can. */
  private rateLimit = 0;

  /** @param now milliseconds since 1970, like `SearchLimits.startedAtMs` */
  constructor(private readonly now: () => number) {
    this.hints = this.ownHints;
  }

  /** The next move is the first of a game. */
  newGame(): void {
    this.gameClock.reset();
  }

  /**
   * To be called with `stats` filled.
   * @returns what the clock allows this move in milliseconds, null without a clock
   */
  start(limits: SearchLimits, params: SearchParams): number | null {
    this.limits = limits;
    this.firstBatchAtMs = 0;
    this.rateLimit = params.nodesPerSecondLimit;
    resetHints(this.ownHints);
    this.read(0);
    this.gameClock.start(limits, this.stats);
    this.stoppers = createStoppers(limits, params, this.gameClock);
    return this.gameClock.isTimed ? this.gameClock.limitMs : null;
  }

  /** Brings the times up to date. @param playouts of this search */
  read(playouts: number): void {
    const now = this.now();
    this.stats.elapsedMs = now - this.limits.startedAtMs;
    this.stats.sinceFirstBatchMs = this.firstBatchAtMs === 0 ? 0 : now - this.firstBatchAtMs;
    if (this.firstBatchAtMs === 0 && playouts > 0) this.firstBatchAtMs = now;
  }

  /** Asks the stoppers; `hints` say afterwards what remains. */
  shouldStop(): boolean {
    const { ownHints, stats } = this;
    resetHints(ownHints);
    ownHints.nps = this.isRateBinding ? this.rateLimit : null;
    return this.stoppers.some((stopper) => stopper.shouldStop(stats, ownHints));
  }

  /** Whether it is the limit, and not the machine, that decides how fast it searches. */
  private get isRateBinding(): boolean {
    const { playouts, sinceFirstBatchMs } = this.stats;
    return this.rateLimit > 0 && playouts * 1000 >= BINDING_SHARE * this.rateLimit * Math.max(1, sinceFirstBatchMs);
  }

  /** Between two batches: whether the clock has run out since. */
  isTimeUp(): boolean {
    const { limitMs } = this.gameClock;
    if (limitMs === Number.POSITIVE_INFINITY) return false;
    const leftMs = limitMs - this.stats.elapsedMs;
    this.ownHints.remainingMs = Math.min(this.ownHints.remainingMs, leftMs);
    return leftMs <= 0;
  }

  isOverRate(playouts: number): boolean {
    if (this.rateLimit === 0 || this.firstBatchAtMs === 0) return false;
    const sinceMs = Math.max(1, this.now() - this.firstBatchAtMs);
    return (playouts * 1000) / sinceMs > this.rateLimit;
  }

  /** The search has answered: the time manager learns what it took. */
  finish(): void {
    this.gameClock.finish(this.stats);
  }
}
