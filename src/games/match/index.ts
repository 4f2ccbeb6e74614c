/** The door of match/: many games between players, their log and report. */

export { type Crosstable, createCrosstable, formatCrosstable } from './crosstable.js';
export type { LivePosition } from './live-position.js';
export { runMatch } from './match.js';
export { LARGEST_RESULTS_BYTES, type LoggedGame, MatchLog, type MatchOrigin } from './match-log.js';
export {
  createReport,
  distinguishNames,
  formatElo,
  formatReport,
  formatSprt,
  type MatchReport,
} from './match-report.js';
export { findLockOwner, lockResults } from './results-lock.js';
export { isFirstPlayerWhite, Schedule, TOURNAMENT_KINDS, type TournamentKind } from './schedule.js';
export { Standings } from './standings.js';
export { Tournament } from './tournament.js';
