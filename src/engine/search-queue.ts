/**
 * The searches that were asked for and not yet answered: the active one, and behind it those that wait for its end. It keeps
 * their order, and what `stop` and `ponderhit` make of those that wait; how a search begins, stops and answers is the
 * engine's business.
 */
import { ActiveSearch } from './active-search.js';
import type { GamePosition } from './game-position.js';
import type { GoRequest } from './go-request.js';

export class SearchQueue {
  active: ActiveSearch | null = null;
  private readonly waiting: ActiveSearch[] = [];
  private idleWaiters: (() => void)[] = [];
  private nextId = 1;

  /** How many wait. */
  get length(): number {
    return this.waiting.length;
  }

  /** The one that was asked for last. */
  get last(): ActiveSearch | null {
    return this.waiting.at(-1) ?? this.active;
  }

  create(request: GoRequest, game: GamePosition): ActiveSearch {
    return new ActiveSearch(this.nextId++, request, game);
  }

  add(search: ActiveSearch): void {
    this.waiting.push(search);
  }

  /** The first of those that wait will answer as soon as they begin. */
  stopWaiting(count: number): void {
    for (let i = 0; i < count; i++) {
      if (this.waiting[i].request.ponder === true) this.waiting[i] = this.createWithoutPonder(this.waiting[i]);
      this.waiting[i].stopRequested = true;
    }
  }

  /** The last one that waits was to ponder, and need not any more. */
  endPonderingOfLast(): void {
    const last = this.waiting.pop();
    if (last !== undefined) this.waiting.push(this.createWithoutPonder(last));
  }

  /** The active search is to end silently, and an ordinary one in its place is the next. */
  replaceActive(active: ActiveSearch, isStopped: boolean): void {
    const next = this.createWithoutPonder(active);
    next.stopRequested = isStopped;
    active.isDiscarded = true;
    active.stopRequested = true;
    this.waiting.unshift(next);
  }

  /** The next to begin, when the active one has been answered; without one, whoever waits for that is told. */
  takeNext(): ActiveSearch | null {
    const next = this.waiting.shift();
    if (next !== undefined) return next;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
    return null;
  }

  /** Those that wait are never begun. */
  clear(): void {
    this.waiting.length = 0;
  }

  /** Resolves when no search is under way or waiting. */
  whenIdle(): Promise<void> {
    if (this.active === null) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private createWithoutPonder({ requestWithoutPonder, game }: ActiveSearch): ActiveSearch {
    return this.create(requestWithoutPonder, game);
  }
}
