/**
 * Runs hundreds of searches in one thread. It steps them in turn: while evaluators work on the leaves of one search, the
 * others gather theirs, so the evaluators always find full batches. Waiting searches are stepped in the order in which they
 * sent their leaves, because answers come in that order.
 *
 * After every finished search, and every few milliseconds, the loop yields to the event loop (pipes of engines, signals,
 * timers). While only evaluators have work it sleeps, for a moment at a time.
 */
import { nextTurn } from '#platform/threads.js';
import type { LeafQueue } from '../../networks/leaves/index.js';
import type { SearchInfo, SearchLimits } from '../protocol/search-protocol.js';
import type { StepResult, TreeSearch } from '../search.js';

export interface SearchAnswer {
  /** 0 = none: no evaluator works. */
  readonly move: number;
  readonly info: SearchInfo | null;
  /** The search ended early, because no evaluator could answer any more. */
  readonly hasFailed: boolean;
}

interface Task {
  readonly search: TreeSearch;
  readonly reject: (error: unknown) => void;
}

/** The running searches over one pool of evaluators. */
class Lane {
  /** The searches with the oldest leaves first. */
  private tasks: Task[] = [];
  private lastEvent = 0;
  /** Number of leaves that the evaluators work on at once. While that many of the oldest searches wait for answers, no younger one is stepped. */
  private readonly leavesAtWork: number;

  constructor(readonly queue: LeafQueue) {
    this.leavesAtWork = queue.workers * queue.minibatch;
  }

  get isEmpty(): boolean {
    return this.tasks.length === 0;
  }

  add(task: Task): void {
    this.tasks.push(task);
  }

  /** Steps every search that may have something to do. */
  pass(): { progressed: boolean; finished: boolean } {
    this.lastEvent = Atomics.load(this.queue.event, 0);
    const { tasks } = this;
    let finished = false;
    let at = 0;
    const waiting: Task[] = [];
    const moved: Task[] = [];
    // These have sent nothing, so they go behind the searches that wait for answers.
    const crowdedOut: Task[] = [];
    for (; at < tasks.length && waiting.length < this.leavesAtWork; at++) {
      const task = tasks[at];
      const state = stepOnward(task);
      if (state === 'done') finished = true;
      else if (state === 'worked') moved.push(task);
      else if (state === 'crowded out') crowdedOut.push(task);
      else waiting.push(task);
    }
    this.tasks = [...waiting, ...tasks.slice(at), ...moved, ...crowdedOut];
    return { progressed: finished || moved.length > 0, finished };
  }

  /** Sleeps until an evaluator has answered since the last pass. */
  sleep(milliseconds: number): void {
    this.queue.waitForEvent(this.lastEvent, milliseconds);
  }
}

/** A search that finds only terminals never waits for an evaluator; after so many steps the other searches get their turn. */
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

/** Ends a search after an exception: rejects its promise and empties its tree, so that the search can be used again. */
function giveUp({ search, reject }: Task, error: unknown): void {
  // Rejects first: `giveUp` answers with what the tree says, and the promise must not resolve with that.
  reject(error);
  try {
    search.giveUp();
  } catch {
    // Caused by the first exception, which the caller already has.
  }
}

const TURN_MS = 10;
const SLEEP_MS = 2;
/** With several pools the loop can wait for only one at a time, so it waits for each a shorter time. */
const SHORT_SLEEP_MS = 0.2;

export class SearchScheduler {
  private readonly lanes = new Map<LeafQueue, Lane>();
  private isRunning = false;
  private nowMs = performance.timeOrigin + performance.now();

  /** The clock of this scheduler's searches: milliseconds since 1970, read once a pass. */
  readonly clock = (): number => this.nowMs;

  /**
   * Starts a search, whose time begins now.
   * @param queue the search's own
   * @returns the answer; rejects with what the search throws
   */
  run(queue: LeafQueue, search: TreeSearch, asked: Omit<SearchLimits, 'startedAtMs'>): Promise<SearchAnswer> {
    const limits: SearchLimits = { ...asked, startedAtMs: performance.timeOrigin + performance.now() };
    const lane = this.lanes.get(queue) ?? new Lane(queue);
    this.lanes.set(queue, lane);
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
      lane.add(task);
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
