/**
 * Watches how fast the visits of the root's moves grow, and predicts whether another move will overtake the best one. The
 * `smooth` time manager opens its piggy bank by it (lc0: smooth.cc, VisitsTrendWatcher).
 */

interface Snapshot {
  readonly atMs: number;
  readonly visits: readonly number[];
}

const NOTHING_SEEN: Snapshot = { atMs: 0, visits: [] };

export class VisitsTrend {
  private previous = NOTHING_SEEN;
  private current = NOTHING_SEEN;
  private last = NOTHING_SEEN;

  constructor(
    private readonly updatePeriodMs: number,
    private readonly bestMoveOptimism: number,
    private readonly overtakerOptimism: number,
  ) {}

  update(nowMs: number, visits: ArrayLike<number>): void {
    if (nowMs <= this.last.atMs) return;
    const snapshot: Snapshot = { atMs: nowMs, visits: Array.from(visits) };
    if (this.previous.visits.length !== snapshot.visits.length) {
      this.previous = snapshot;
      this.current = snapshot;
    }
    this.last = snapshot;
    // With two snapshots the rate always spans one to two periods.
    if (this.current.atMs + this.updatePeriodMs <= nowMs) {
      this.previous = this.current;
      this.current = snapshot;
    }
  }

  isBestMoveBeingOvertaken(deadlineMs: number): boolean {
    const spanMs = this.last.atMs - this.previous.atMs;
    const remainingMs = deadlineMs - this.last.atMs;
    if (spanMs <= 0 || remainingMs <= 0) return false;
    const last = this.last.visits;
    const previous = this.previous.visits;
    let best = 0;
    for (let i = 1; i < last.length; i++) if (last[i] > last[best]) best = i;
    const foresee = (i: number, optimism: number): number =>
      last[i] + (optimism * (last[i] - previous[i]) * remainingMs) / spanMs;
    const planned = foresee(best, this.bestMoveOptimism);
    for (let i = 0; i < last.length; i++) {
      if (i !== best && foresee(i, this.overtakerOptimism) > planned) return true;
    }
    return false;
  }
}
