/** The start data of an evaluator thread and the messages it sends to the pool. Leaves travel in shared memory only. */

import type { SharedPoolHandle } from '../../leaves/index.js';
import type { BackendPlan } from '../backend/backend-plan.js';
import type { ModelFacts } from '../model/model-file.js';

export interface WorkerStart {
  /** Number of the thread in its pool. A thread that replaces a dead one gets the same number. */
  readonly worker: number;
  readonly handle: SharedPoolHandle;
  readonly cache: SharedArrayBuffer | null;
  readonly plan: BackendPlan;
  /** The ONNX file in shared memory, and what the pool has read in it; null for evaluators without a network. */
  readonly model: ModelFacts | null;
  /**
   * What to do if the evaluator cannot be created. `first`: the thread ends, and the pool tries its next plan. `replacement`: the
   * thread uses the CPU, because a search may be running. `hopeless`: earlier threads with this number kept dying, so this one
   * creates no evaluator. It answers FAILED to leaves that need one, but only if no other thread can evaluate.
   */
  readonly role: 'first' | 'replacement' | 'hopeless';
}

export type FromWorker =
  /** A stranger's network may be opened. */
  | { readonly type: 'checked' }
  | { readonly type: 'ready'; readonly backend: string }
  /** The evaluator failed, at the start or during a search, and was replaced. */
  | { readonly type: 'fellBack'; readonly from: string; readonly to: string; readonly reason: string }
  /** One sentence for the user: a damaged tablebase file, or a message of the evaluator. */
  | { readonly type: 'warning'; readonly text: string }
  /** This thread can no longer evaluate; `othersLeft` threads can. If that is 0, leaves are answered FAILED. */
  | { readonly type: 'gaveUp'; readonly reason: string; readonly othersLeft: number };
