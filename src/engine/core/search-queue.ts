/**
 * The requested searches without an answer yet: the active one, then those that wait for its end. It keeps their order and
 * applies `stop` and `ponderhit` to the waiting ones. The engine starts, stops and answers searches.
 *
 * `StopWatchdog` gives up a stopped search that does not answer.
 */

import { startWatchdog } from '../../base/util/index.js';
import type { GamePosition } from './game-position.js';
import type { GoRequest } from './go-request.js';
import { RequestedSearch, type SearchPurpose } from './requested-search.js';

export class SearchQueue {
  active: RequestedSearch | null = null;
  private readonly waiting: RequestedSearch[] = [];
  private readonly idleWaiters: (() => void)[] = [];
  private nextId = 1;

  /** Number of waiting searches. */
  get length(): number {
    return this.waiting.length;
  }

  /** The search requested last. */
  get last(): RequestedSearch | null {
    return this.waiting.at(-1) ?? this.active;
  }

  create(request: GoRequest, game: GamePosition, purpose?: SearchPurpose): RequestedSearch {
    return new RequestedSearch(this.nextId++, request, game, purpose);
  }

  add(search: RequestedSearch): void {
    this.waiting.push(search);
  }

  /** Makes the first `count` waiting searches answer as soon as they begin. */
  stopWaiting(count: number): void {
    for (let i = 0; i < count; i++) {
      if (this.waiting[i].request.ponder === true) this.waiting[i] = this.createWithoutPonder(this.waiting[i]);
      this.waiting[i].stopRequested = true;
    }
  }

  /** Searches that have reported nothing give no answer any more. */
  discardUnsearched(): void {
    for (const search of this.waiting) search.isDiscarded = true;
    if (this.active !== null && this.active.lastReport === null) this.active.isDiscarded = true;
  }

  /** Turns the last waiting search from pondering into an ordinary one. */
  endPonderingOfLast(): void {
    const last = this.waiting.pop();
    if (last !== undefined) this.waiting.push(this.createWithoutPonder(last));
  }

  /** Ends the active search without an answer; an ordinary search in its place comes next. */
  replaceActive(active: RequestedSearch, isStopped: boolean): void {
    const next = this.createWithoutPonder(active);
    next.stopRequested = isStopped;
    active.isDiscarded = true;
    active.stopRequested = true;
    this.waiting.unshift(next);
  }

  /** Call it when the active search has been answered. Returns the next search; if there is none, `whenIdle` resolves. */
  takeNext(): RequestedSearch | null {
    const next = this.waiting.shift();
    if (next !== undefined) return next;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
    return null;
  }

  /** Drops the waiting searches. */
  clear(): void {
    this.waiting.length = 0;
  }

  /** Resolves when no search is running or waiting. */
  whenIdle(): Promise<void> {
    if (this.active === null) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private createWithoutPonder({ request, game, isDiscarded }: RequestedSearch): RequestedSearch {
    const { ponder: _, ...ordinary } = request;
    const search = this.create(ordinary, game);
    search.isDiscarded = isDiscarded;
    return search;
  }
}

/** A stopped search with an evaluated root answers within milliseconds. After this time it counts as broken. */
const KNOWN_ROOT_MS = 3000;
/** Without it, the root's evaluation must come first: a large network on a slow machine needs seconds for a minibatch. */
const UNKNOWN_ROOT_MS = 30_000;

/** Waits for the answer of a stopped search, and gives up if none comes. */
export class StopWatchdog {
  private ends: (() => void)[] = [];

  /** @param knowsRoot whether the root is evaluated; called when the shorter time is over */
  begin(knowsRoot: () => boolean, giveUp: () => void): void {
    this.end();
    const lookAtRoot = (): void => {
      if (knowsRoot()) giveUp();
    };
    this.ends = [startWatchdog(KNOWN_ROOT_MS, lookAtRoot), startWatchdog(UNKNOWN_ROOT_MS, giveUp)];
  }

  end(): void {
    for (const end of this.ends.splice(0)) end();
  }
}
