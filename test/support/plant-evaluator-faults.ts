/** Loaded before the program by `plantEvaluatorFaults`: all pools of this process run on faulty threads. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { EvaluatorPool } = await import('#sardonyx/networks/nn/index.js');
  const { createFaultyThread } = await import('./evaluator-faults.js');
  const threadScript = createFaultyThread(JSON.parse(process.env.SARDONYX_TEST_FAULTS ?? '{}'));
  const create = EvaluatorPool.create.bind(EvaluatorPool);
  EvaluatorPool.create = (options) => create({ ...options, threadScript });
}
