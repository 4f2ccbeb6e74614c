/** The one place that chooses among the evaluators: what a plan asks for, and what replaces it when it fails. */
import type { BackendPlan } from '../backend/backend-plan.js';
import type { Evaluator } from '../evaluator.js';
import type { Model } from '../model/model-file.js';
import { plantFaults } from './failing-evaluator.js';
import { HashEvaluator } from './hash-evaluator.js';
import { createOnnxEvaluator } from './onnx-evaluator.js';
import { TrivialEvaluator } from './trivial-evaluator.js';

/** @param model null only for evaluators without a network */
export async function createEvaluator(plan: BackendPlan, model: Model | null, worker: number): Promise<Evaluator> {
  return plantFaults(await createPlain(plan, model, worker), plan.faults);
}

/** The CPU instead of a device; without a network, the same once more. */
export async function createFallback(plan: BackendPlan, model: Model | null, worker: number): Promise<Evaluator> {
  if (plan.faults.fallbackFails) throw new Error('made to fail when falling back');
  const { evaluator } = plan;
  if (evaluator.kind !== 'onnx') return createPlain(plan, model, worker);
  const onCpu = { ...evaluator, provider: 'cpu', devices: [0], intraOpThreads: 1, batch: 0 } as const;
  return createPlain({ ...plan, evaluator: onCpu }, model, worker);
}

async function createPlain({ evaluator }: BackendPlan, model: Model | null, worker: number): Promise<Evaluator> {
  if (evaluator.kind === 'hash') return new HashEvaluator(evaluator);
  if (evaluator.kind === 'trivial') return new TrivialEvaluator();
  if (model === null) throw new Error('there is no network');
  return createOnnxEvaluator(model, evaluator, worker);
}
