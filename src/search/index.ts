export { computeExploration, getPuctParams } from './formulas/puct.js';
export {
  computeScore,
  computeWdl,
  convertPliesToMoves,
  DRAWN_VALUES,
  type ScoreType,
  type Wdl,
} from './formulas/score.js';
export {
  createSearchParams,
  defaultSearchParams,
  LARGEST_MINIBATCH,
  type SearchParams,
  searchOptions,
} from './protocol/params.js';
export {
  type ClockLimits,
  type FromSearch,
  type GatheringCounters,
  type MoveRule,
  type MoveStats,
  NO_SEARCH,
  type PositionMessage,
  type SearchInfo,
  type SearchLimits,
  type SearchLine,
  type SearchOrder,
  type ToSearch,
  type TreeDump,
  type TreeDumpLimits,
} from './protocol/search-protocol.js';
export {
  type RootDescription,
  type RootMove,
  type RootMoveDescription,
  type RootSummary,
  summariseRoot,
} from './report/root-description.js';
export { dumpTree } from './report/tree-dump.js';
export { computeTreeBytes } from './root/game-tree.js';
export { computeTemperature } from './root/move-choice.js';
export { TreeSearch } from './search.js';
export { computeMoveTimeBudgetMs } from './stop/game-clock.js';
export { SearchClient, type SearchClientEvents } from './thread/search-client.js';
export { SearchScheduler } from './thread/search-scheduler.js';
export type { NodeValue } from './tree/tree.js';
export type { Batching } from './visit/pipeline.js';
