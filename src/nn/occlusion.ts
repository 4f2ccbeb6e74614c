/**
 * Which squares a network's opinion hangs on, by occlusion (Zeiler and Fergus, "Visualizing and Understanding
 * Convolutional Networks", 2014): the position is evaluated again with one square after the other wiped from all input
 * planes, past positions included. It needs nothing of a network but its answers, so it works with every one.
 * A thread of its own does the work, beside any search.
 */
import { prepareRuntime } from '#platform/onnx-runtime.js';
import { startThread } from '#platform/threads.js';
import { formatFen, type Move, type Position } from '../chess/index.js';
import { failure, type Result } from '../util/index.js';
import { getNetworkPlan, planBackend } from './backend/backend-plan.js';
import { loadEdition } from './model/model-file.js';
import type { OcclusionTask } from './occlusion-thread.js';
import { DEFAULT_HISTORY_FILL } from './options.js';
import type { PoolOptions } from './pool/evaluator-pool.js';

/** From the view of the player to move. */
export interface Opinion {
  readonly valueWl: number;
  readonly valueD: number;
  /** Of the legal moves, in their order; they sum to 1. */
  readonly priors: Float32Array;
}

export interface Occlusion {
  readonly network: string;
  readonly moves: readonly Move[];
  readonly whole: Opinion;
  /** By square of the board, a1 = 0: the opinion without what stands there. */
  readonly withoutSquare: readonly Opinion[];
  /** The opinion of the same position with nothing before it; null when there was nothing. */
  readonly withoutHistory: Opinion | null;
}

/** @param pool of it: backend and its options, model, policy temperature, history fill */
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

/** Never rejects. */
function runInThread(task: OcclusionTask): Promise<Result<Occlusion>> {
  return new Promise((resolve) => {
    const thread = startThread<never, Result<Occlusion>>(
      new URL('./occlusion-thread.js', import.meta.url),
      { name: 'occlusion', data: task },
      { onMessage: resolve, onError: ({ message }) => resolve(failure(message)) },
    );
    // Without an answer before: the thread has died.
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
