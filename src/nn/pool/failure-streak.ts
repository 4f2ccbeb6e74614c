/**
 * Counts failures that follow close upon each other. What fails once a week is worth starting again each time; what
 * fails again and again without much work in between is not.
 */

/** Evaluations after which earlier failures are forgiven. */
export const FORGIVING_EVALUATIONS = 2000;

export class FailureStreak {
  private count = 0;
  private evaluationsBefore = 0;

  /**
   * @param evaluations made by this evaluator since the pool was made
   * @returns failures without much work in between, this one included
   */
  add(evaluations: number): number {
    if (evaluations - this.evaluationsBefore >= FORGIVING_EVALUATIONS) this.count = 0;
    this.evaluationsBefore = evaluations;
    this.count++;
    return this.count;
  }

  /** 0 before the first failure. */
  get length(): number {
    return this.count;
  }
}
