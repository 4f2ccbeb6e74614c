/**
 * The main thread's side of the analysis thread, and the messages between the two, which postMessage can copy. If the thread
 * dies, `finished` rejects.
 */

import { startThread, type Thread } from '#platform/threads.js';
import { createDeferred } from '../../base/util/index.js';
import type { SharedPoolHandle } from '../../networks/leaves/index.js';
import type { AnalysisAnswer } from './answer.js';
import type { PositionTask, TaskSelection } from './parse-query.js';

export interface AnalysisSettings {
  /** Number of positions searched at the same time, as far as `treeBytes` allows. */
  readonly parallel: number;
  /** Leaves of each position in flight; 0 = as many as keep the evaluators busy. */
  readonly leavesPerPosition: number;
  /** Memory of all trees together. */
  readonly treeBytes: number;
}

/** Passed to the thread at its start. */
export interface AnalysisStart {
  readonly pool: SharedPoolHandle;
  readonly settings: AnalysisSettings;
}

export type ToAnalysis =
  | { readonly type: 'add'; readonly tasks: readonly PositionTask[] }
  | { readonly type: 'terminate'; readonly selection: TaskSelection }
  /** Asks for `finished` once everything is answered. */
  | { readonly type: 'finish' };

export type FromAnalysis = { readonly type: 'answer'; readonly answer: AnalysisAnswer } | { readonly type: 'finished' };

export class AnalysisClient {
  private readonly worker: Thread<ToAnalysis>;
  private readonly over = createDeferred();
  /** Resolves when `finish` was called and everything is answered; rejects if the thread dies. */
  readonly finished = this.over.promise;

  constructor(start: AnalysisStart, onAnswer: (answer: AnalysisAnswer) => void) {
    this.worker = startThread<ToAnalysis, FromAnalysis>(
      new URL('./analysis-worker.js', import.meta.url),
      { name: 'analysis', data: start },
      {
        onMessage: (message) => {
          if (message.type === 'answer') onAnswer(message.answer);
          else this.over.resolve();
        },
        onError: (error) => this.over.reject(new Error(`The analysis thread has failed: ${error.message}`)),
      },
    );
    void this.worker.ended.then(() => this.over.reject(new Error('The analysis thread has ended')));
    // Nobody may be waiting yet, so an early failure must not count as unhandled.
    this.finished.catch(() => undefined);
  }

  add(tasks: readonly PositionTask[]): void {
    this.worker.post({ type: 'add', tasks });
  }

  terminate(selection: TaskSelection): void {
    this.worker.post({ type: 'terminate', selection });
  }

  /** No more tasks come. */
  finish(): void {
    this.worker.post({ type: 'finish' });
  }

  async dispose(): Promise<void> {
    await this.worker.terminate();
  }
}
