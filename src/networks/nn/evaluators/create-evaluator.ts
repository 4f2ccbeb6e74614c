/**
 * Creates the evaluator that a plan describes, or its replacement after a failure. No other file chooses between evaluators.
 */

import { type BackendPlan, type EvaluatorPlan, planReplacement } from '../backend/backend-plan.js';
import type { Model } from '../model/model-file.js';
import { CheckEvaluator } from './check-evaluator.js';
import type { Evaluator } from './evaluator.js';
import { HashEvaluator } from './hash-evaluator.js';
import { RandomEvaluator } from './random-evaluator.js';
import { TrivialEvaluator } from './trivial-evaluator.js';

/** Creates the evaluators of a thread. All methods reject if that fails. */
export interface EvaluatorFactory {
  /** Looks at a stranger's network before it is opened. */
  check(model: Model): Promise<void>;
  /**
   * @param model null only for evaluators without a network
   * @param worker number of the thread, which decides the device among those of the plan
   */
  create(plan: BackendPlan, model: Model | null, worker: number): Promise<Evaluator>;
  /** The replacement after a failure: the CPU; without a network, the same evaluator again. */
  createFallback(plan: BackendPlan, model: Model | null, worker: number): Promise<Evaluator>;
}

export const evaluatorFactory: EvaluatorFactory = {
  check: async (model) => (await import('./large-activations.js')).refuseLargeActivations(model),
  create: ({ evaluator }, model, worker) => createEvaluator(evaluator, model, worker),
  createFallback: ({ evaluator }, model, worker) => createEvaluator(planReplacement(evaluator), model, worker),
};

async function createEvaluator(plan: EvaluatorPlan, model: Model | null, worker: number): Promise<Evaluator> {
  if (plan.kind === 'team') return createEvaluator(plan.members[worker % plan.members.length], model, worker);
  if (plan.kind === 'check') {
    const working = await createEvaluator(plan.working, model, worker);
    return new CheckEvaluator(working, await createEvaluator(plan.reference, model, worker), plan, worker);
  }
  if (plan.kind === 'hash') return new HashEvaluator(plan);
  if (plan.kind === 'random') return new RandomEvaluator(plan);
  if (plan.kind === 'trivial') return new TrivialEvaluator();
  if (model === null) throw new Error('there is no network');
  const { createOnnxEvaluator } = await import('./onnx-evaluator.js');
  return createOnnxEvaluator(model, plan, worker);
}
