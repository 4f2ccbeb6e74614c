/** Evaluator threads whose evaluators fail on demand; `createFaultyThread` makes their scripts. */
import { planOnCpu } from '#sardonyx/networks/nn/backend/backend-plan.js';
import { type EvaluatorFactory, evaluatorFactory } from '#sardonyx/networks/nn/evaluators/create-evaluator.js';
import type { Evaluator } from '#sardonyx/networks/nn/evaluators/evaluator.js';
import { runEvaluatorThread } from '#sardonyx/networks/nn/pool/evaluator-thread.js';
import type { EvaluatorFaults } from './evaluator-faults.js';

/** Runs of this thread, before and after falling back. */
let runs = 0;

function plant(inner: Evaluator, faults: EvaluatorFaults, worker: number): Evaluator {
  const { failAfter, crashAfter, thread } = faults;
  if (thread !== undefined && thread !== worker) return inner;
  const run = inner.run.bind(inner);
  inner.run = (rows) => {
    if (runs === crashAfter) throw new Error(`made to die after ${runs} runs`);
    if (runs === failAfter) return Promise.reject(new Error(`made to fail after ${runs} runs`));
    runs++;
    return run(rows);
  };
  return inner;
}

function createFaultyFactory(faults: EvaluatorFaults): EvaluatorFactory {
  return {
    ...evaluatorFactory,
    create: async (plan, model, worker) => {
      const { evaluator } = plan;
      if (faults.backend !== undefined && faults.backend !== plan.name) {
        return evaluatorFactory.create(plan, model, worker);
      }
      if (faults.loadFails) throw new Error('made to fail at loading');
      const played = faults.playsDevice && evaluator.kind === 'onnx' ? planOnCpu(evaluator) : evaluator;
      return plant(await evaluatorFactory.create({ ...plan, evaluator: played }, model, worker), faults, worker);
    },
    createFallback: (plan, model, worker) => {
      if (faults.fallbackFails) return Promise.reject(new Error('made to fail when falling back'));
      return evaluatorFactory.createFallback(plan, model, worker);
    },
  };
}

export function runFaultyThread(faults: EvaluatorFaults): Promise<void> {
  return runEvaluatorThread(createFaultyFactory(faults));
}
