/** Time management: turns a chess clock into milliseconds for a move. It has no timer of its own (see time-manager.ts). */
export { capOverheadMs, computeMoveTimeBudgetMs, createTimeManager } from './clock-guard.js';
export { parseTimeManager } from './parse-time-manager.js';
export type { MoveBudget, MoveRequest, MoverClock, SearchProgress, TimeManager } from './time-manager.js';
