/** Time management: from a chess clock to milliseconds. Pure, without a timer (see time-manager.ts). */
export { capOverheadMs, computeMoveTimeBudgetMs } from './clock-guard.js';
export { parseTimeManager } from './parse-time-manager.js';
export type { MoveBudget, MoveRequest, MoverClock, SearchProgress, TimeManager } from './time-manager.js';
