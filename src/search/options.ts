/**
 * The second, light door of search/: what can be set, without loading what searches. `uciok` waits for nothing else.
 */
export { searchOptions } from './params.js';
export { parseTimeManager } from './time/parse-time-manager.js';
