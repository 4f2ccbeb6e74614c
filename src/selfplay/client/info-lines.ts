/**
 * Collects the `info` lines of one search: the last line of each rank. Engines print MultiPV lines in blocks that begin with
 * rank 1. A move can change its rank between blocks, so lines of two blocks must not be mixed. If the search ends within a
 * block, moves of the previous block complete it. If a score is only a bound, the previous block's score replaces it, unless bounds
 * are to count.
 */
import type { UciInfo } from './info-line.js';

export class InfoLines {
  private previous: UciInfo[] = [];
  private current: UciInfo[] = [];

  /** @param countsBounds whether a bound counts as a score */
  constructor(private readonly countsBounds = false) {}

  add(info: UciInfo): void {
    if (info.rank === 1 && this.current.length > 0) {
      this.previous = this.fill();
      this.current = [];
    }
    const mustReplace = info.isBound && !this.countsBounds;
    const exact = mustReplace ? this.previous.find((line) => line.pv[0] === info.pv[0]) : undefined;
    this.current.push(exact === undefined ? info : { ...exact, rank: info.rank });
  }

  /** Best first as the engine ranks them; no move twice. */
  list(): UciInfo[] {
    return this.fill();
  }

  private fill(): UciInfo[] {
    const lines: UciInfo[] = [];
    for (const line of [...this.current, ...this.previous]) {
      const isNew = lines.every((other) => other.pv[0] !== line.pv[0]);
      if (isNew && (lines.length < this.current.length || lines.length < this.previous.length)) {
        lines.push({ ...line, rank: lines.length + 1 });
      }
    }
    return lines;
  }
}
