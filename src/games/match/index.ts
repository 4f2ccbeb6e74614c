/** The door of match/: many games between players, their log and report. */

export { type LivePosition, runMatch } from './match.js';
export {
  findLockOwner,
  LARGEST_RESULTS_BYTES,
  type LoggedGame,
  lockResults,
  MatchLog,
  type MatchOrigin,
} from './match-log.js';
export {
  type Crosstable,
  createCrosstable,
  createReport,
  distinguishNames,
  formatCrosstable,
  formatReport,
  type MatchReport,
} from './match-report.js';
export { Schedule, Standings, TOURNAMENT_KINDS, Tournament, type TournamentKind } from './tournament.js';
