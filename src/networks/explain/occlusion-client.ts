/**
 * Measures how much a network's evaluation depends on each square, by occlusion (Zeiler and Fergus, "Visualizing and
 * Understanding Convolutional Networks", 2014): it evaluates the position once for each square, with that square empty in all
 * input planes, past positions included. It works with every network, because it needs only inputs and outputs. A thread of
 * its own does the work, so that a search can run at the same time.
 */
import { prepareRuntime } from '#platform/onnx-runtime.js';
import { startThread } from '#platform/threads.js';
import { failure, type Result } from '../../base/util/index.js';
import { formatFen, type Move, type Position } from '../../chess/rules/index.js';
import { getNetworkPlan, loadEdition, type PoolOptions, planBackend } from '../nn/index.js';
import { DEFAULT_HISTORY_FILL } from '../nn/options.js';
import type { Occlusion, OcclusionTask } from './occlusion-worker.js';

/** @param pool backend, its options, model, policy temperature and history fill are used; no pool is created */
export async function computeOcclusion(pool: PoolOptions, position: Position): Promise<Result<Occlusion>> {
  const plans = planBackend({
    backend: pool.backend ?? 'auto',
    optionsText: pool.backendOptions ?? '',
    threads: 1,
    minibatch: 0,
  });
  if (!plans.ok) return plans;
  const network = getNetworkPlan(plans.value[0].evaluator);
  if (network === null || pool.model === undefined) {
    return failure(`The backend ${plans.value[0].name} has no network, so there is nothing to explain`);
  }
  prepareRuntime(network.config.tf32);
  const model = await loadEdition(pool.model, network);
  if (!model.ok) return model;
  const { bytes, path: name, weightsFolder } = model.value;
  return runInThread({
    plans: plans.value,
    model: { bytes, name, weightsFolder },
    ...listPlayed(position),
    historyFill: pool.historyFill ?? DEFAULT_HISTORY_FILL,
    policyTemperature: pool.policyTemperature ?? 1,
  });
}

/** Starts the thread. @returns its answer, or a failure if it ends without one; never rejects */
function runInThread(task: OcclusionTask): Promise<Result<Occlusion>> {
  return new Promise((resolve) => {
    const thread = startThread<never, Result<Occlusion>>(
      new URL('./occlusion-worker.js', import.meta.url),
      { name: 'occlusion', data: task },
      { onMessage: resolve, onError: ({ message }) => resolve(failure(message)) },
    );
    // No effect if the thread has answered before.
    void thread.ended.then(() => resolve(failure('The thread that explains has ended')));
  });
}

/** A position's history as data, because a Position cannot be sent to a thread. */
function listPlayed(position: Position): Pick<OcclusionTask, 'rootFen' | 'moves'> {
  const root = position.clone();
  const moves: Move[] = [];
  while (root.historyLength > 0) {
    moves.unshift(root.lastMove());
    root.unmakeMove();
  }
  return { rootFen: formatFen(root, 'shredder'), moves };
}
