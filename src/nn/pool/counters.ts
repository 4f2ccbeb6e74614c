/** What the evaluators have done since the pool was made: each counts on its own line, readers add the lines up. */
import {
  COUNT_BATCHES,
  COUNT_EVALUATIONS,
  COUNT_TERMINALS,
  COUNTERS_PER_WORKER,
  type LeafSlots,
} from './leaf-slots.js';

export class PoolCounters {
  private readonly lines: Float64Array;

  constructor(slots: LeafSlots) {
    this.lines = slots.counters;
  }

  /** Positions the network (or its stand-in) has evaluated. */
  get evaluations(): number {
    return this.sum(COUNT_EVALUATIONS);
  }

  /** Of one evaluator, the threads of its number that have died included. */
  getEvaluationsOf(worker: number): number {
    return this.lines[worker * COUNTERS_PER_WORKER + COUNT_EVALUATIONS];
  }

  /** Calls of the network. */
  get batches(): number {
    return this.sum(COUNT_BATCHES);
  }

  get terminals(): number {
    return this.sum(COUNT_TERMINALS);
  }

  private sum(counter: number): number {
    let total = 0;
    for (let i = counter; i < this.lines.length; i += COUNTERS_PER_WORKER) total += this.lines[i];
    return total;
  }
}
