/**
 * The least time of each of several tasks, on a machine that may do other work at the same time. Other work only ever makes a run
 * longer, so the least time is the best estimate. The tasks take turns, so that a slow phase of the machine meets all of them.
 *
 * A long run is interrupted more often than a short one, so under load the least times favour short runs. Two runs that agree
 * show that the least time was no accident; without them the result is called unsteady.
 */

/** Fewer rounds would include the first runs, which allocate memory and load code. */
const LEAST_ROUNDS = 6;
/** No further round begins after this time. */
const LIMIT_MS = 150;
/** The two shortest runs of a task agree if the longer one takes at most this much more. */
const AGREEMENT = 0.05;

export interface LeastTimes {
  /** In the order of the tasks. */
  readonly leastMs: readonly number[];
  /** Whether the two shortest runs of every task agree. */
  readonly isSteady: boolean;
}

/**
 * Runs all tasks in rounds until their times are steady or the time is up.
 * @param now the time in milliseconds
 */
export async function findLeastTimes(
  tasks: readonly (() => Promise<void> | undefined)[],
  now: () => number = () => performance.now(),
): Promise<LeastTimes> {
  const shortest = tasks.map(() => new ShortestRuns());
  const deadline = now() + LIMIT_MS;
  for (let round = 1; ; round++) {
    for (const [index, run] of tasks.entries()) {
      const startedAt = now();
      await run();
      shortest[index].add(now() - startedAt);
    }
    const isSteady = shortest.every((runs) => runs.agree);
    if (round > 1 && ((isSteady && round >= LEAST_ROUNDS) || now() >= deadline)) {
      return { leastMs: shortest.map(({ leastMs }) => leastMs), isSteady };
    }
  }
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
