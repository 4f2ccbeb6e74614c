/**
 * Counts of the evaluators' work since the pool was created. Each evaluator writes its own row; readers add up the rows.
 */

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

  /** Positions evaluated by the network (or its fallback). */
  get evaluations(): number {
    return this.sum(COUNT_EVALUATIONS);
  }

  /** Counts of one evaluator, including earlier threads with its number that died. */
  getEvaluationsOf(worker: number): number {
    return this.lines[worker * COUNTERS_PER_WORKER + COUNT_EVALUATIONS];
  }

  /** Number of network calls. */
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
