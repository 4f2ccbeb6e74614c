/**
 * Watches how fast the visits of the root's moves grow, and predicts whether another move will overtake the best one. The
 * `smooth` time manager opens its piggy bank by it (lc0: smooth.cc, VisitsTrendWatcher).
 */

export class VisitsTrend {
  private previous: number[] = [];
  private current: number[] = [];
  private last: number[] = [];
  private previousMs = 0;
  private currentMs = 0;
  private lastMs = 0;

  constructor(
    private readonly updatePeriodMs: number,
    private readonly bestMoveOptimism: number,
    private readonly overtakerOptimism: number,
  ) {}

  update(nowMs: number, visits: ArrayLike<number>): void {
    if (nowMs <= this.lastMs) return;
    const snapshot = Array.from(visits);
    if (this.previous.length !== snapshot.length) {
      this.previous = snapshot;
      this.current = snapshot;
      this.previousMs = nowMs;
      this.currentMs = nowMs;
    }
    this.last = snapshot;
    this.lastMs = nowMs;
    // With two snapshots the rate always spans one to two periods.
    if (this.currentMs + this.updatePeriodMs <= nowMs) {
      this.previous = this.current;
      this.previousMs = this.currentMs;
      this.current = snapshot;
      this.currentMs = nowMs;
    }
  }

  isBestMoveBeingOvertaken(deadlineMs: number): boolean {
    const spanMs = this.lastMs - this.previousMs;
    const remainingMs = deadlineMs - this.lastMs;
    if (spanMs <= 0 || remainingMs <= 0) return false;
    const { last, previous } = this;
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
