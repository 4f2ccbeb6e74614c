/** An analysis in this thread over evaluators that need no file. */

import { AnalysisRun } from '#sardonyx/engine/analysis/analysis-run.js';
import type { AnalysisAnswer, PositionAnswer } from '#sardonyx/engine/analysis/answer.js';
import { type PositionTask, parseQuery, type QueryDefaults } from '#sardonyx/engine/analysis/parse-query.js';
import { createOptionStore } from '#sardonyx/engine/app/all-options.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool } from '#sardonyx/networks/nn/index.js';
import { SearchScheduler } from '#sardonyx/search/index.js';
import { createFaultyThread } from '../../support/evaluator-faults.js';

const options = createOptionStore();
options.set('SmartPruningFactor', '0');

export const DEFAULTS: QueryDefaults = {
  values: options.values,
  maxVisits: 40,
  maxTimeMs: null,
  models: ['N'],
};

export function createTasks(query: Record<string, unknown>): readonly PositionTask[] {
  return parseQuery(String(query.id ?? 'q'), query, DEFAULTS).tasks;
}

export interface Bench {
  readonly run: AnalysisRun;
  readonly answers: AnalysisAnswer[];
  readonly queue: LeafQueue;
  /** Resolves with the first answer from now on that is accepted. */
  next(accept: (answer: AnalysisAnswer) => boolean): Promise<AnalysisAnswer>;
}

interface BenchOptions {
  readonly parallel?: number;
  readonly leavesPerPosition?: number;
  /** Milliseconds that an evaluation takes. */
  readonly delay?: number;
  /** Evaluations after which nothing can evaluate any more. */
  readonly failAfter?: number;
  readonly treeBytes?: number;
}

export async function withRun(
  { parallel = 4, leavesPerPosition = 1, delay = 0, failAfter, treeBytes = 2 ** 28 }: BenchOptions,
  use: (bench: Bench) => Promise<void>,
): Promise<void> {
  const pool = await EvaluatorPool.create({
    backend: 'random',
    backendOptions: delay === 0 ? '' : `delay=${delay}`,
    ...(failAfter === undefined ? {} : { threadScript: createFaultyThread({ failAfter, fallbackFails: true }) }),
    threads: 1,
    minibatch: 4,
    cachePositions: 0,
  });
  const answers: AnalysisAnswer[] = [];
  const listeners = new Set<(answer: AnalysisAnswer) => void>();
  const queue = new LeafQueue(pool.handle);
  const settings = { parallel, leavesPerPosition, treeBytes };
  const run = new AnalysisRun(queue, new SearchScheduler(), settings, (answer) => {
    answers.push(answer);
    for (const listener of listeners) listener(answer);
  });
  const next: Bench['next'] = (accept) =>
    new Promise((resolve) => {
      const listener = (answer: AnalysisAnswer): void => {
        if (!accept(answer)) return;
        listeners.delete(listener);
        resolve(answer);
      };
      listeners.add(listener);
    });
  try {
    await use({ run, answers, queue, next });
  } finally {
    run.terminate({ queryId: null, turnNumbers: null });
    await run.whenIdle();
    await pool.dispose();
  }
}

/** The answer as one with results; an assertion otherwise. */
export function requireResults(answer: AnalysisAnswer | undefined): PositionAnswer {
  if (answer === undefined || !('moveInfos' in answer)) throw new Error(`No results: ${JSON.stringify(answer)}`);
  return answer;
}
