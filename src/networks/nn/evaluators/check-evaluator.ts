/**
 * The evaluator of the backend `check`: it returns the results of one evaluator and compares some batches with another. It
 * reports after 1, 2, 4, 8 … compared batches, so that a long search prints few lines.
 */

import { createPrng } from '../../../base/util/index.js';
import { MAX_MOVES, type Position } from '../../../chess/rules/index.js';
import type { HistoryFill } from '../../encoding/index.js';
import type { CheckPlan } from '../backend/backend-plan.js';
import type { Evaluator } from './evaluator.js';

/** Smallest power of ten in the histogram; smaller differences count there. */
const SMALLEST_DECADE = -9;

export class CheckEvaluator implements Evaluator {
  readonly isInstant = false;
  private readonly random;
  private counts = new Uint16Array(0);
  private readonly workingPriors = new Float32Array(MAX_MOVES);
  private readonly referencePriors = new Float32Array(MAX_MOVES);
  private say: (text: string) => void = () => {};
  private batches = 0;
  private positions = 0;
  /** Batches with a difference beyond the tolerance. */
  private failures = 0;
  private largestValue = 0;
  private largestPrior = 0;
  /** Power of ten of a difference → number of such differences. */
  private readonly decades = new Map<number, number>();

  constructor(
    private readonly working: Evaluator,
    private readonly reference: Evaluator,
    private readonly plan: CheckPlan,
    worker: number,
  ) {
    this.random = createPrng(worker + 1);
  }

  get backend(): string {
    return this.working.backend;
  }

  get mostRows(): number {
    return Math.min(this.working.mostRows ?? Infinity, this.reference.mostRows ?? Infinity);
  }

  get valueWl(): Float32Array {
    return this.working.valueWl;
  }

  get valueD(): Float32Array {
    return this.working.valueD;
  }

  get movesLeft(): Float32Array {
    return this.working.movesLeft;
  }

  reportTo(say: (text: string) => void): void {
    this.say = say;
  }

  reserve(rows: number): void {
    this.working.reserve(rows);
    this.reference.reserve(rows);
    this.counts = new Uint16Array(rows);
  }

  setRow(row: number, position: Position, moves: Uint16Array, offset: number, count: number, fill: HistoryFill): void {
    this.working.setRow(row, position, moves, offset, count, fill);
    this.reference.setRow(row, position, moves, offset, count, fill);
    this.counts[row] = count;
  }

  async run(rows: number): Promise<void> {
    await this.working.run(rows);
    if (this.random.nextFloat() >= this.plan.frequency) return;
    await this.reference.run(rows);
    this.compare(rows);
  }

  writePriorsInto(out: Float32Array, row: number, count: number, policyTemperature: number): void {
    this.working.writePriorsInto(out, row, count, policyTemperature);
  }

  async dispose(): Promise<void> {
    await Promise.all([this.working.dispose(), this.reference.dispose()]);
  }

  private compare(rows: number): void {
    const { working, reference, workingPriors, referencePriors, counts } = this;
    let isEqual = true;
    for (let row = 0; row < rows; row++) {
      const value = this.measure(working.valueWl[row], reference.valueWl[row]);
      this.largestValue = Math.max(this.largestValue, value.difference);
      isEqual &&= value.isEqual;
      working.writePriorsInto(workingPriors, row, counts[row], 1);
      reference.writePriorsInto(referencePriors, row, counts[row], 1);
      for (let i = 0; i < counts[row]; i++) {
        const prior = this.measure(workingPriors[i], referencePriors[i]);
        this.largestPrior = Math.max(this.largestPrior, prior.difference);
        isEqual &&= prior.isEqual;
      }
    }
    this.batches++;
    this.positions += rows;
    if (!isEqual) this.failures++;
    const isFirstFailure = !isEqual && this.failures === 1;
    if (isFirstFailure || Number.isInteger(Math.log2(this.batches))) this.say(this.describe());
  }

  private measure(a: number, b: number): { readonly difference: number; readonly isEqual: boolean } {
    const { absoluteTolerance, relativeTolerance, mode } = this.plan;
    const difference = Math.abs(a - b);
    if (mode === 'histo') {
      const decade = Math.max(SMALLEST_DECADE, Math.floor(Math.log10(difference)));
      this.decades.set(decade, (this.decades.get(decade) ?? 0) + 1);
    }
    const allowed = Math.max(absoluteTolerance, relativeTolerance * Math.max(Math.abs(a), Math.abs(b)));
    return { difference, isEqual: difference <= allowed };
  }

  private describe(): string {
    const { working, reference, batches, positions, failures, plan } = this;
    const verdict = plan.mode === 'check' ? `${failures} of ${batches} batches differ` : `${batches} batches compared`;
    const largest = `largest differences: W−L ${format(this.largestValue)}, prior ${format(this.largestPrior)}`;
    const sizes = [...this.decades].sort(([a], [b]) => b - a).map(([decade, count]) => `1e${decade}: ${count}`);
    const histogram = sizes.length === 0 ? '' : `; sizes: ${sizes.join(', ')}`;
    return `Check of ${working.backend} against ${reference.backend}: ${verdict} (${positions} positions); ${largest}${histogram}`;
  }
}

function format(difference: number): string {
  return difference === 0 ? '0' : difference.toExponential(1);
}
