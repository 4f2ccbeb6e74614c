/**
 * Decides when a search should end without `stop`. It has the clocks of the search and of the game and asks the stoppers after
 * each batch. `TreeSearch` decides whether it must wait for `stop` nevertheless.
 */
import type { SearchParams } from '../protocol/params.js';
import type { SearchLimits } from '../protocol/search-protocol.js';
import { IterationStats } from '../root/iteration-stats.js';
import { GameClock } from './game-clock.js';
import { createHints, createStoppers, type Hints, type Stopper } from './stoppers.js';

/** The rate limit counts as binding when a search reaches at least this share of it. */
const BINDING_SHARE = 0.9;

export class StopWatch {
  /** The stop watch keeps the times; `TreeSearch` fills in the rest. */
  readonly stats = new IterationStats();
  /** How much time and how many playouts remain, as the stoppers said last. */
  hints: Hints = createHints();
  private readonly gameClock = new GameClock();
  private stoppers: Stopper[] = [];
  private limits: SearchLimits = { startedAtMs: 0 };
  /** When the first batch of the running search was finished; 0 = not yet. */
  private firstBatchAtMs = 0;
  /** Playouts a second at most; 0 = as many as it can. */
  private rateLimit = 0;

  /** @param now milliseconds since 1970, like `SearchLimits.startedAtMs` */
  constructor(private readonly now: () => number) {}

  /** Forgets the game: the next move is the first of another one. */
  newGame(): void {
    this.gameClock.reset();
  }

  /**
   * Starts the clock of a search; `stats` must be filled in.
   * @returns the milliseconds that the clock allows this move; null without a clock
   */
  start(limits: SearchLimits, params: SearchParams): number | null {
    this.limits = limits;
    this.firstBatchAtMs = 0;
    this.rateLimit = params.nodesPerSecondLimit;
    this.hints = createHints();
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

  /** Asks the stoppers, which write `hints`. */
  shouldStop(): boolean {
    this.hints = createHints();
    if (this.isRateBinding) this.hints.nps = this.rateLimit;
    return this.stoppers.some((stopper) => stopper(this.stats, this.hints));
  }

  /** Whether the rate limit, and not the machine, decides how fast the search is. */
  private get isRateBinding(): boolean {
    const { playouts, sinceFirstBatchMs } = this.stats;
    return this.rateLimit > 0 && playouts * 1000 >= BINDING_SHARE * this.rateLimit * Math.max(1, sinceFirstBatchMs);
  }

  /** Whether the clock has run out; may be asked in the middle of a batch. */
  isTimeUp(): boolean {
    const { limitMs } = this.gameClock;
    if (limitMs === Number.POSITIVE_INFINITY) return false;
    const leftMs = limitMs - this.stats.elapsedMs;
    this.hints.remainingMs = Math.min(this.hints.remainingMs, leftMs);
    return leftMs <= 0;
  }

  isOverRate(playouts: number): boolean {
    if (this.rateLimit === 0 || this.firstBatchAtMs === 0) return false;
    const sinceMs = Math.max(1, this.now() - this.firstBatchAtMs);
    return (playouts * 1000) / sinceMs > this.rateLimit;
  }

  /** Tells the time manager, when the search has answered, how long it took. */
  finish(): void {
    this.gameClock.finish(this.stats);
  }
}
