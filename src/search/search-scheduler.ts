/**
 * Hundreds of searches in one thread. Every search is stepped in turn: while the leaves of one are being evaluated,
 * the others gather theirs, so that the evaluators always find full batches. Searches that wait are looked at in the
 * order in which they sent their leaves, which is the order in which answers come.
 *
 * The loop lets Node's own events (engines' pipes, signals, timers) run after every finished search and every few
 * milliseconds; it sleeps, for a moment at a time, only while nothing but an evaluator has work.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LeafQueue } from '../nn/index.js';
import type { Search, StepResult } from './search.js';
import type { SearchInfo, SearchLimits } from './search-protocol.js';

export interface SearchAnswer {
  /** 0 = none: no evaluator works. */
  readonly move: number;
  readonly info: SearchInfo | null;
  /** No evaluator could answer: the search was cut short, whatever it had found out by then. */
  readonly hasFailed: boolean;
}

interface Task {
  readonly search: Search;
  readonly reject: (error: unknown) => void;
}

/** The searches over one pool of evaluators. */
class Lane {
  /** Oldest leaves first. */
  private tasks: Task[] = [];
  private next: Task[] = [];
  private lastEvent = 0;
  /** Evaluators have claimed so many leaves at most: if none of the oldest is done, none is. */
  private readonly patience: number;

  constructor(readonly queue: LeafQueue) {
    this.patience = queue.workers * queue.minibatch;
  }

  get isEmpty(): boolean {
    return this.tasks.length === 0;
  }

  add(task: Task): void {
    this.tasks.push(task);
  }

  /** Steps every search that can go on. */
  pass(): { progressed: boolean; finished: boolean } {
    this.lastEvent = Atomics.load(this.queue.event, 0);
    const { tasks, next } = this;
    let waiting = 0;
    let finished = false;
    let at = 0;
    const moved: Task[] = [];
    // They have sent nothing, so they must not stand before those whose answers may be there.
    const crowdedOut: Task[] = [];
    for (; at < tasks.length && waiting < this.patience; at++) {
      const task = tasks[at];
      const state = stepOnward(task);
      if (state === 'done') finished = true;
      else if (state === 'worked') moved.push(task);
      else if (state === 'crowded out') crowdedOut.push(task);
      else {
        waiting++;
        next.push(task);
      }
    }
    for (; at < tasks.length; at++) next.push(tasks[at]);
    next.push(...moved, ...crowdedOut);
    tasks.length = 0;
    this.tasks = next;
    this.next = tasks;
    return { progressed: finished || moved.length > 0, finished };
  }

  /** Until an evaluator has answered since the last pass. */
  sleep(milliseconds: number): void {
    this.queue.waitForEvent(this.lastEvent, milliseconds);
  }
}

/** A tree of nothing but finished games needs no evaluator: it must not keep the others waiting. */
const MOST_STEPS = 100;

function stepOnward(task: Task): StepResult {
  const { search } = task;
  let hasWorked = false;
  try {
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const result = search.step();
      if (result === 'done') return 'done';
      if (result !== 'worked') return hasWorked ? 'worked' : result;
      hasWorked = true;
    }
    return 'worked';
  } catch (error) {
    giveUp(task, error);
    return 'done';
  }
}

/** After an exception: the caller gets it instead of an answer, and may use the search again, with an empty tree. */
function giveUp({ search, reject }: Task, error: unknown): void {
  // First, for giving up makes an answer of what the tree says, and here it comes too late.
  reject(error);
  try {
    search.giveUp();
  } catch {
    // The first exception says more than what followed from it.
  }
}

const TURN_MS = 10;
const SLEEP_MS = 2;
/** With several pools asleep the loop can only listen to one at a time. */
const SHORT_SLEEP_MS = 0.2;

export class SearchScheduler {
  private readonly lanes = new Map<LeafQueue, Lane>();
  private isRunning = false;
  private nowMs = performance.timeOrigin + performance.now();

  /** Milliseconds since 1970, renewed at every pass: what searches of this scheduler use as their clock. */
  readonly clock = (): number => this.nowMs;

  /** Rejects with what the search throws. @param queue the search's own */
  run(queue: LeafQueue, search: Search, limits: SearchLimits): Promise<SearchAnswer> {
    let lane = this.lanes.get(queue);
    if (lane === undefined) {
      lane = new Lane(queue);
      this.lanes.set(queue, lane);
    }
    const owner = lane;
    return new Promise((resolve, reject) => {
      let last: SearchInfo | null = null;
      const task: Task = { search, reject };
      try {
        search.start(limits, {
          onInfo: (info) => {
            last = info;
          },
          onStats: () => undefined,
          onWarning: () => undefined,
          onBestMove: (move) => resolve({ move, info: last, hasFailed: search.counters.failures > 0 }),
        });
      } catch (error) {
        return giveUp(task, error);
      }
      owner.add(task);
      if (!this.isRunning) void this.loop();
    });
  }

  private async loop(): Promise<void> {
    this.isRunning = true;
    let turnedAt = performance.now();
    for (;;) {
      const lanes = [...this.lanes.values()].filter((lane) => !lane.isEmpty);
      if (lanes.length === 0) break;
      const now = performance.now();
      this.nowMs = performance.timeOrigin + now;
      let progressed = false;
      let finished = false;
      for (const lane of lanes) {
        const result = lane.pass();
        progressed ||= result.progressed;
        finished ||= result.finished;
      }
      if (finished || now - turnedAt > TURN_MS) {
        await nextTurn();
        turnedAt = performance.now();
      } else if (!progressed) {
        for (const lane of lanes) lane.sleep(lanes.length === 1 ? SLEEP_MS : SHORT_SLEEP_MS);
      }
    }
    this.isRunning = false;
  }
}
