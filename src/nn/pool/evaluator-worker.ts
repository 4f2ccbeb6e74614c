/** The main file of an evaluator thread. It never writes to stdout and ends by itself when the pool stops. */
import { parentPort, workerData } from 'node:worker_threads';
import { unwrap } from '../../util/index.js';
import { EvaluationCache } from '../cache/evaluation-cache.js';
import type { Evaluator } from '../evaluator.js';
import { createEvaluator, createFallback } from '../evaluators/create-evaluator.js';
import { loadModel, type Model } from '../model/model-file.js';
import { LeafClaims } from './leaf-claims.js';
import { LeafServer } from './leaf-server.js';
import { viewLeafSlots } from './leaf-slots.js';
import { RootBoards } from './root-boards.js';
import { RootTable } from './root-table.js';
import type { FromWorker, WorkerStart } from './worker-protocol.js';

/** After so many replacements in one thread the fault lies elsewhere. */
const MAX_FALLBACKS = 2;

const start = workerData as WorkerStart;
const { plan, worker, handle } = start;
const model: Model | null = start.model === null ? null : unwrap(await loadModel(start.model));
let current: Evaluator | null = null;
let fallbacks = 0;

function report(message: FromWorker): void {
  parentPort?.postMessage(message);
}

async function replaceEvaluator(error: unknown): Promise<Evaluator | null> {
  const from = current?.backend ?? plan.name;
  const reason = getReason(error);
  await current?.dispose().catch(() => undefined);
  current = null;
  if (fallbacks++ < MAX_FALLBACKS) {
    try {
      current = await createFallback(plan, model, worker);
      report({ type: 'fellBack', from, to: current.backend, reason });
      return current;
    } catch (again) {
      report({ type: 'gaveUp', reason: getReason(again) });
      return null;
    }
  }
  report({ type: 'gaveUp', reason });
  return null;
}

function getReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

if (!start.isHopeless) {
  try {
    current = await createEvaluator(plan, model, worker);
  } catch (error) {
    await replaceEvaluator(error);
  }
}
if (current !== null || start.isHopeless) {
  const slots = viewLeafSlots(handle.slots, handle);
  const claims = new LeafClaims(slots, worker);
  const server = new LeafServer({
    slots,
    worker,
    claims,
    boards: new RootBoards(new RootTable(handle.roots)),
    cache: start.cache === null ? null : new EvaluationCache(start.cache),
    evaluator: current,
    replaceEvaluator,
  });
  report({ type: 'ready', backend: current?.backend ?? plan.name });
  await server.serve(claims.listAbandoned());
  await current?.dispose();
}
