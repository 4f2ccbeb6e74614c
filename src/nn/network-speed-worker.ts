/**
 * The thread of network-speed-client.ts: it opens each network as an evaluator thread does on the CPU, times batches of the size that
 * such a thread uses, and ends. Only the network itself is timed: encoding takes a few per cent, and much more until its code
 * is compiled.
 */
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { MAX_MOVES, type Move, Position } from '../chess/index.js';
import { failure, type Result, success, unwrap } from '../util/index.js';
import { planBackend } from './backend/backend-plan.js';
import type { Evaluator } from './evaluator.js';
import { evaluatorFactory } from './evaluators/create-evaluator.js';
import { findLeastTimes } from './least-times.js';
import { loadModel } from './model/model-file.js';
import type { NetworkSpeeds, SpeedTask } from './network-speed-client.js';
import { DEFAULT_HISTORY_FILL } from './options.js';

async function measure({ models }: SpeedTask): Promise<Result<NetworkSpeeds>> {
  const [plan] = unwrap(planBackend({ backend: 'cpu', optionsText: '', threads: 1, minibatch: 0 }));
  const evaluators: Evaluator[] = [];
  try {
    for (const source of models) {
      const model = await loadModel(source);
      if (!model.ok) return model;
      const evaluator = await evaluatorFactory.create(plan, model.value, 0);
      evaluators.push(evaluator);
      writePositionsInto(evaluator, plan.minibatch);
    }
    const { leastMs, isSteady } = await findLeastTimes(
      evaluators.map((evaluator) => () => evaluator.run(plan.minibatch)),
    );
    return success({ evaluationsPerSecond: leastMs.map((ms) => (1000 * plan.minibatch) / ms), isSteady });
  } catch (error) {
    return failure((error as Error).message);
  } finally {
    for (const evaluator of evaluators) await evaluator.dispose();
  }
}

/** Fills a batch with the positions of a game in which each player makes the first legal move. */
function writePositionsInto(evaluator: Evaluator, rows: number): void {
  const position = new Position();
  const moves = new Uint16Array(MAX_MOVES);
  evaluator.reserve(rows);
  for (let row = 0; row < rows; row++) {
    const count = position.generateLegalMoves(moves);
    evaluator.setRow(row, position, moves, 0, count, DEFAULT_HISTORY_FILL);
    position.makeMove(moves[0] as Move);
  }
}

postToParent(await measure(await getThreadData<SpeedTask>()));
endThread();
