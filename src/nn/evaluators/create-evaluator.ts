/** The one place that chooses among the evaluators: what a plan asks for, and what replaces it when it fails. */
import { type BackendPlan, planOnCpu } from '../backend/backend-plan.js';
import type { Evaluator } from '../evaluator.js';
import type { Model } from '../model/model-file.js';
import { plantFaults } from './failing-evaluator.js';
import { HashEvaluator } from './hash-evaluator.js';
import { TrivialEvaluator } from './trivial-evaluator.js';

/** @param model null only for evaluators without a network */
export async function createEvaluator(plan: BackendPlan, model: Model | null, worker: number): Promise<Evaluator> {
  const { evaluator, faults } = plan;
  if (faults.failLoad) throw new Error('made to fail at loading');
  const played = faults.playsDevice && evaluator.kind === 'onnx' ? planOnCpu(evaluator) : evaluator;
  return plantFaults(await createPlain(played, model, worker), faults, worker);
}

/** The CPU instead of a device; without a network, the same once more. */
export function createFallback(plan: BackendPlan, model: Model | null, worker: number): Promise<Evaluator> {
  if (plan.faults.fallbackFails) return Promise.reject(new Error('made to fail when falling back'));
  return createPlain(plan.evaluator.kind === 'onnx' ? planOnCpu(plan.evaluator) : plan.evaluator, model, worker);
}

async function createPlain(plan: BackendPlan['evaluator'], model: Model | null, worker: number): Promise<Evaluator> {
  if (plan.kind === 'hash') return new HashEvaluator(plan);
  if (plan.kind === 'trivial') return new TrivialEvaluator();
  if (model === null) throw new Error('there is no network');
  // onnxruntime's library takes a tenth of a second to load, which hash, random and trivial can do without.
  const { createOnnxEvaluator } = await import('./onnx-evaluator.js');
  return createOnnxEvaluator(model, plan, worker);
}
