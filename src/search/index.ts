export { createSearchParams, defaultSearchParams, type SearchParams, searchOptions } from './params.js';
export type {
  FromSearch,
  MoveStats,
  PositionMessage,
  SearchInfo,
  SearchLimits,
  SearchLine,
  StatsBound,
  ToSearch,
} from './protocol.js';
