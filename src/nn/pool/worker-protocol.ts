/** What an evaluator thread is started with, and the few messages it sends. Leaves travel in shared memory only. */
import type { BackendPlan } from '../backend/backend-plan.js';
import type { ModelSource } from '../model/model-file.js';
import type { LeafSlotsShape } from './leaf-slots.js';

/** What a thread needs to use a pool. It can be sent in messages (structured cloning). */
export interface SharedPoolHandle extends LeafSlotsShape {
  readonly slots: SharedArrayBuffer;
  readonly roots: SharedArrayBuffer;
  readonly tablebases: SharedArrayBuffer;
  /** Positions in one network call, at the time the pool was created. */
  readonly minibatch: number;
  /** Minibatches that a search should keep in flight; 0 = one more than there are evaluators. */
  readonly batchesInFlight: number;
  /** If false, `movesLeft` of evaluated leaves is always 0. */
  readonly hasMovesLeft: boolean;
}

export interface WorkerStart {
  /** Which of the pool's evaluators this is; a thread that replaces a dead one has its number. */
  readonly worker: number;
  readonly handle: SharedPoolHandle;
  readonly cache: SharedArrayBuffer | null;
  readonly plan: BackendPlan;
  /** The ONNX file in shared memory, and what to call it; null for evaluators without a network. */
  readonly model: Extract<ModelSource, { bytes: Uint8Array }> | null;
  /**
   * The first of its number ends when its evaluator cannot be made, because the pool may have a better plan. A
   * replacement, in the middle of a search, takes the CPU then. A hopeless one, whose predecessors kept dying, has no
   * evaluator: it answers FAILED to all that needs one, once no other thread has one either.
   */
  readonly role: 'first' | 'replacement' | 'hopeless';
}

export type FromWorker =
  | { readonly type: 'ready'; readonly backend: string }
  /** The evaluator failed (loading, or in the middle of a search) and another one has taken its place. */
  | { readonly type: 'fellBack'; readonly from: string; readonly to: string; readonly reason: string }
  /** One sentence for the user: a tablebase file is damaged, or what an evaluator has to tell. */
  | { readonly type: 'warning'; readonly text: string }
  /** Nothing works in this thread; so many others can evaluate. When none can, leaves are answered FAILED. */
  | { readonly type: 'gaveUp'; readonly reason: string; readonly othersLeft: number };
