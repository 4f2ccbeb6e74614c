/**
 * The least time of each of several tasks, on a machine that may do other work at the same time. Other work only ever makes a run
 * longer, so the least time is the best estimate. The tasks take turns, so that a slow phase of the machine meets all of them; a turn
 * is several runs, because the first one finds another task's data in the processor's caches.
 *
 * A long run is interrupted more often than a short one, and on a busy machine always. So a run takes its wall time or the
 * processor time of this process, whichever is less: a pause adds to the first only, other threads of this process to the second
 * only. Two runs that agree show that the least time was no accident; without them the result is called unsteady.
 */
import { getProcessorMs } from '#platform/machine.js';

const RUNS_IN_TURN = 3;
/** Fewer rounds would leave few runs after the first ones, which allocate memory and load code. */
const LEAST_ROUNDS = 3;
/** No further round begins after this time of running, or when more than this has passed because the machine is busy. */
const RUNNING_LIMIT_MS = 120;
const WALL_LIMIT_MS = 400;
/** The two shortest runs of a task agree if the longer one takes at most this much more. */
const AGREEMENT = 0.05;
/** A processor clock that advances in larger steps cannot time a run. */
const LARGEST_STEP_MS = 0.1;
/** Takes a few milliseconds, in which a coarse clock stands still. */
const CLOCK_READS = 2000;

export interface RunClock {
  getWallMs(): number;
  /** Processor time of all threads of this process; null if it is not known exactly. */
  getProcessorMs(): number | null;
}

export interface LeastTimes {
  /** In the order of the tasks. */
  readonly leastMs: readonly number[];
  /** Whether the two shortest runs of every task agree. */
  readonly isSteady: boolean;
}

/**
 * Runs all tasks in rounds until their times are steady or the time is up.
 */
export async function findLeastTimes(
  tasks: readonly (() => Promise<void> | undefined)[],
  clock: RunClock = createRunClock(),
): Promise<LeastTimes> {
  const shortest = tasks.map(() => new ShortestRuns());
  const deadline = clock.getWallMs() + WALL_LIMIT_MS;
  let runningMs = 0;
  for (let round = 1; ; round++) {
    for (const [index, run] of tasks.entries()) {
      for (let i = 0; i < RUNS_IN_TURN; i++) {
        const ms = await timeRun(run, clock);
        shortest[index].add(ms);
        runningMs += ms;
      }
    }
    const isSteady = shortest.every((runs) => runs.agree);
    const isOver = runningMs >= RUNNING_LIMIT_MS || clock.getWallMs() >= deadline;
    if ((isSteady && round >= LEAST_ROUNDS) || isOver) {
      return { leastMs: shortest.map(({ leastMs }) => leastMs), isSteady };
    }
  }
}

async function timeRun(run: () => Promise<void> | undefined, clock: RunClock): Promise<number> {
  const wallMs = clock.getWallMs();
  const processorMs = clock.getProcessorMs();
  await run();
  const processorMsNow = clock.getProcessorMs();
  const wallSpent = clock.getWallMs() - wallMs;
  return processorMs === null || processorMsNow === null
    ? wallSpent
    : Math.min(wallSpent, processorMsNow - processorMs);
}

function createRunClock(): RunClock {
  const isExact = isProcessorClockFine();
  return { getWallMs: () => performance.now(), getProcessorMs: () => (isExact ? getProcessorMs() : null) };
}

/** Some systems count processor time in ticks of the scheduler. */
function isProcessorClockFine(): boolean {
  let last = getProcessorMs();
  for (let read = 0; read < CLOCK_READS && last !== null; read++) {
    const now = getProcessorMs();
    if (now === null) break;
    if (now > last && now - last <= LARGEST_STEP_MS) return true;
    last = now;
  }
  return false;
}

/** The two shortest runs of a task. */
class ShortestRuns {
  leastMs = Number.POSITIVE_INFINITY;
  private secondMs = Number.POSITIVE_INFINITY;

  add(ms: number): void {
    this.secondMs = Math.min(this.secondMs, Math.max(ms, this.leastMs));
    this.leastMs = Math.min(this.leastMs, ms);
  }

  get agree(): boolean {
    return this.secondMs <= this.leastMs * (1 + AGREEMENT);
  }
}
