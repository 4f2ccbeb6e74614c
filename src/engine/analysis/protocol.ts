/** What the main thread and the analysis thread say to each other; everything can be cloned by postMessage. */
import type { SharedPoolHandle } from '../../nn/index.js';
import type { AnalysisAnswer } from './answer.js';
import type { PositionTask, TaskSelection } from './position-task.js';

export interface AnalysisSettings {
  /** Positions under way at a time, as far as `treeBytes` has room for their trees. */
  readonly parallel: number;
  /** Leaves each of them has under way; 0 = as many as keep the evaluators busy. */
  readonly leavesPerPosition: number;
  /** Memory of all trees together. */
  readonly treeBytes: number;
}

/** Given to the thread when it is made. */
export interface AnalysisStart {
  readonly pool: SharedPoolHandle;
  readonly settings: AnalysisSettings;
}

export type ToAnalysis =
  | { readonly type: 'add'; readonly tasks: readonly PositionTask[] }
  | { readonly type: 'terminate'; readonly selection: TaskSelection }
  /** Say `finished` when everything is answered. */
  | { readonly type: 'finish' };

export type FromAnalysis = { readonly type: 'answer'; readonly answer: AnalysisAnswer } | { readonly type: 'finished' };
