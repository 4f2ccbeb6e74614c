/**
 * Provides a thread's evaluator and its replacements after failures: first the evaluator of the plan, then one on the CPU, then
 * none. It reports every change to the pool and updates the list of threads that can evaluate.
 */

import { getErrorMessage } from '../../../base/util/index.js';
import { type LeafSlots, LiveEvaluators, PoolCounters } from '../../leaves/index.js';
import type { BackendPlan } from '../backend/backend-plan.js';
import type { EvaluatorFactory } from '../evaluators/create-evaluator.js';
import type { Evaluator } from '../evaluators/evaluator.js';
import type { Model } from '../model/model-file.js';
import type { FromWorker } from './evaluator-messages.js';

/** After this many replacements in a row another one would not help. */
const MAX_FALLBACKS = 2;

export class EvaluatorSupply {
  private current: Evaluator | null = null;
  private readonly failures = new FailureStreak();
  private readonly live: LiveEvaluators;
  private readonly counters: PoolCounters;

  constructor(
    private readonly factory: EvaluatorFactory,
    private readonly plan: BackendPlan,
    private readonly model: Model | null,
    private readonly worker: number,
    slots: LeafSlots,
    private readonly report: (message: FromWorker) => void,
  ) {
    this.live = new LiveEvaluators(slots);
    this.counters = new PoolCounters(slots);
  }

  /** @param mayFallBack if false, rejects when the plan's evaluator cannot be created, so that the pool tries another plan */
  async open(mayFallBack: boolean): Promise<Evaluator | null> {
    try {
      return this.use(await this.factory.create(this.plan, this.model, this.worker));
    } catch (error) {
      if (!mayFallBack) throw error;
      return this.replace(error);
    }
  }

  /** Replaces the evaluator after a failure. @returns null if no replacement is left */
  async replace(error: unknown): Promise<Evaluator | null> {
    const from = this.current?.backend ?? this.plan.name;
    // Closing may fail too, for example if the device is gone.
    await this.close().catch(() => undefined);
    this.current = null;
    const failures = this.failures.add(this.counters.getEvaluationsOf(this.worker));
    if (failures > MAX_FALLBACKS) return this.giveUp(error);
    try {
      const evaluator = this.use(await this.factory.createFallback(this.plan, this.model, this.worker));
      this.report({ type: 'fellBack', from, to: evaluator.backend, reason: getErrorMessage(error) });
      return evaluator;
    } catch (again) {
      return this.giveUp(again);
    }
  }

  async close(): Promise<void> {
    await this.current?.dispose();
  }

  /** Marks this thread as unable to evaluate. */
  giveUp(error: unknown): null {
    const othersLeft = this.live.leave(this.worker);
    this.report({ type: 'gaveUp', reason: getErrorMessage(error), othersLeft });
    return null;
  }

  private use(evaluator: Evaluator): Evaluator {
    this.current = evaluator;
    evaluator.reportTo?.((text) => this.report({ type: 'warning', text }));
    this.live.join(this.worker);
    return evaluator;
  }
}

/** After this many evaluations, earlier failures no longer count. */
export const FORGIVING_EVALUATIONS = 2000;

/**
 * Counts failures in quick succession. An evaluator that fails once a week is restarted each time; one that fails again and
 * again with little work in between is not.
 */
export class FailureStreak {
  /** 0 before the first failure. */
  length = 0;
  private evaluationsBefore = 0;

  /**
   * @param evaluations number of this evaluator's evaluations since the pool was created
   * @returns number of failures with little work in between, including this one
   */
  add(evaluations: number): number {
    if (evaluations - this.evaluationsBefore >= FORGIVING_EVALUATIONS) this.length = 0;
    this.evaluationsBefore = evaluations;
    return ++this.length;
  }
}
