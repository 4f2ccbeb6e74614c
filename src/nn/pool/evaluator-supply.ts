/**
 * Which evaluator a thread works with, and the next one when it fails: first what the plan says, then its replacement
 * on the CPU, then none. Every change is reported once.
 */
import type { BackendPlan } from '../backend/backend-plan.js';
import type { Evaluator } from '../evaluator.js';
import { createEvaluator, createFallback } from '../evaluators/create-evaluator.js';
import type { Model } from '../model/model-file.js';
import type { FromWorker } from './worker-protocol.js';

/** After so many replacements in one thread the fault lies elsewhere. */
const MAX_FALLBACKS = 2;

export class EvaluatorSupply {
  private current: Evaluator | null = null;
  private fallbacks = 0;

  constructor(
    private readonly plan: BackendPlan,
    private readonly model: Model | null,
    private readonly worker: number,
    private readonly report: (message: FromWorker) => void,
  ) {}

  /** @param mayFallBack false: reject when the plan's own evaluator cannot be made, so that another plan is tried */
  async open(mayFallBack: boolean): Promise<Evaluator | null> {
    try {
      this.current = await createEvaluator(this.plan, this.model, this.worker);
      return this.current;
    } catch (error) {
      if (!mayFallBack) throw error;
      return this.replace(error);
    }
  }

  /** @returns null when nothing is left to try */
  async replace(error: unknown): Promise<Evaluator | null> {
    const from = this.current?.backend ?? this.plan.name;
    // A device that is lost may refuse even this.
    await this.close().catch(() => undefined);
    this.current = null;
    if (this.fallbacks++ === MAX_FALLBACKS) return this.giveUp(error);
    try {
      this.current = await createFallback(this.plan, this.model, this.worker);
    } catch (again) {
      return this.giveUp(again);
    }
    this.report({ type: 'fellBack', from, to: this.current.backend, reason: getReason(error) });
    return this.current;
  }

  async close(): Promise<void> {
    await this.current?.dispose();
  }

  private giveUp(error: unknown): null {
    this.report({ type: 'gaveUp', reason: getReason(error) });
    return null;
  }
}

function getReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
