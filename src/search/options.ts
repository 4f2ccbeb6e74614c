/**
 * The second, light door of search/: its options, without the code that searches, so that `uciok` does not wait for it.
 */

export { SCORE_TYPES } from './formulas/score.js';
export { searchOptions } from './protocol/params.js';
export { parseTimeManager } from './stop/parse-time-manager.js';
