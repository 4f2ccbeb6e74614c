/**
 * Runs an evaluator thread from its start to its end. The thread's script (evaluator-worker.ts) passes the factory of its
 * evaluators. The thread never writes to stdout and ends by itself when the pool stops.
 */
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { unwrap } from '../../../base/util/index.js';
import { viewLeafSlots } from '../../leaves/index.js';
import { EvaluationCache } from '../cache/evaluation-cache.js';
import type { EvaluatorFactory } from '../evaluators/create-evaluator.js';
import { recogniseNetwork } from '../model/network-format.js';
import type { FromWorker, WorkerStart } from './evaluator-messages.js';
import { EvaluatorSupply } from './evaluator-supply.js';
import { LeafServer } from './leaf-server.js';
import { LeafTablebases } from './leaf-tablebases.js';
import { TablebaseWords } from './tablebase-words.js';

/** Call it once, in a thread that a pool has started. */
export async function runEvaluatorThread(factory: EvaluatorFactory): Promise<void> {
  const { plan, worker, handle, cache, ...start } = await getThreadData<WorkerStart>();
  const report = (message: FromWorker): void => postToParent(message);

  const model = start.model && { ...start.model, format: unwrap(recogniseNetwork(start.model.header)) };
  if (model?.isForeign === true) {
    await factory.check(model);
    report({ type: 'checked' });
  }
  const slots = viewLeafSlots(handle.slots, handle);
  const supply = new EvaluatorSupply(factory, plan, model, worker, slots, report);
  const isHopeless = start.role === 'hopeless';
  const evaluator = isHopeless
    ? supply.giveUp('its threads kept ending')
    : await supply.open(start.role === 'replacement');

  const tablebases = new LeafTablebases(new TablebaseWords(handle.tablebases), (text) =>
    report({ type: 'warning', text }),
  );
  const server = new LeafServer({
    handle,
    worker,
    cache: cache === null ? null : new EvaluationCache(cache),
    tablebases,
    evaluator,
    replaceEvaluator: (error) => supply.replace(error),
  });
  report({ type: 'ready', backend: evaluator?.backend ?? plan.name });
  await server.serve();
  tablebases.close();
  await supply.close();
  endThread();
}
