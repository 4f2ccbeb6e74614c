export { computeTreeBytes } from './game-tree.js';
export type { LeafChannel } from './leaf-channel.js';
export type { MoveRule } from './move-rules.js';
export {
  createSearchParams,
  defaultSearchParams,
  LARGEST_MINIBATCH,
  type SearchParams,
  searchOptions,
} from './params.js';
export type { Batching } from './pipeline.js';
export { computeExploration, getPuctParams } from './puct.js';
export { computeTemperature } from './root/move-choice.js';
export type { RootDescription, RootMoveDescription } from './root/root-description.js';
export { type Evaluation, type RootMove, type RootSummary, summariseRoot } from './root/root-summary.js';
export { Search, type SearchListener, type SearchOptions, type StepResult } from './search.js';
export {
  type ClockLimits,
  type FromSearch,
  type GatheringCounters,
  type MoveStats,
  NO_SEARCH,
  type PositionMessage,
  type SearchInfo,
  type SearchLimits,
  type SearchLine,
  type StatsBound,
  type ToSearch,
} from './search-protocol.js';
export { type SearchAnswer, SearchScheduler } from './search-scheduler.js';
export { SearchWorkerClient, type SearchWorkerEvents } from './search-worker-client.js';
export { computeMoveTimeBudgetMs } from './time/index.js';
export { type TreeReport, verifyTree } from './tree/verify.js';
export { dumpTree, type TreeDump, type TreeDumpLimits } from './tree-dump.js';
