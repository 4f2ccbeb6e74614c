/** What an evaluator thread is started with, and the few messages it sends. Leaves travel in shared memory only. */
import type { BackendPlan } from '../backend/backend-plan.js';
import type { SharedPoolHandle } from './handle.js';

export interface WorkerStart {
  /** Which of the pool's evaluators this is; a thread that replaces a dead one has its number. */
  readonly worker: number;
  readonly handle: SharedPoolHandle;
  readonly cache: SharedArrayBuffer | null;
  readonly plan: BackendPlan;
  /** The ONNX file in shared memory, and what to call it; null for evaluators without a network. */
  readonly model: { readonly bytes: Uint8Array; readonly name: string } | null;
  /** Its predecessors kept dying: answer FAILED to all that needs an evaluator. */
  readonly isHopeless: boolean;
}

export type FromWorker =
  | { readonly type: 'ready'; readonly backend: string }
  /** The evaluator failed (loading, or in the middle of a search) and another one has taken its place. */
  | { readonly type: 'fellBack'; readonly from: string; readonly to: string; readonly reason: string }
  /** Nothing works; leaves are answered FAILED. */
  | { readonly type: 'gaveUp'; readonly reason: string };
