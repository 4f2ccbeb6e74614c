/** The door of selfplay/: games between engines and networks, and their results, records and labels. */
export { EngineError } from './client/engine-process.js';
export { createEngineSpec, type EngineSpec, formatPairs } from './client/engine-spec.js';
export { type AdjudicationRules, openGameTables, parseDrawRule, parseResignRule } from './game/adjudication.js';
export { formatTimeControl } from './game/clock.js';
export { END_REASONS } from './game/game-end.js';
export { LabelFiles } from './label/label-files.js';
export { LabelNetwork, type LabelNetworkSetup } from './label/label-network.js';
export { createGameJobs, type LabelJob, runLabelling } from './label/label-run.js';
export type { LabelSettings, PositionSettings, StartSource } from './label/label-settings.js';
export {
  countPasses,
  openSources,
  PLAYER_RESULTS,
  type PlayerResult,
  readSources,
  type SourceFile,
  type SourceFilter,
} from './label/label-sources.js';
export { createPositionJobs } from './label/position-jobs.js';
export { openStartBooks, parseStartSource } from './label/start-books.js';
export { type Crosstable, createCrosstable, distinguishNames, formatCrosstable } from './match/crosstable.js';
export type { LivePosition } from './match/live-position.js';
export { runMatch } from './match/match.js';
export { LARGEST_RESULTS_BYTES, type LoggedGame, MatchLog, type MatchOrigin } from './match/match-log.js';
export { createReport, formatReport, type MatchReport } from './match/match-report.js';
export { findLockOwner, lockResults } from './match/results-lock.js';
export { Schedule, TOURNAMENT_KINDS, type TournamentKind } from './match/schedule.js';
export { Tournament } from './match/tournament.js';
export { NetworkPools, type NetworkSetup } from './network/network-setup.js';
export type { OpeningOrder } from './openings/book.js';
export { createGameOpenings, createMatchOpenings } from './openings/opening-plan.js';
export { createPlayerSources } from './players/player-source.js';
export { createPlayerSpec, type Pair, type PlayerSpec, parsePlayerWords } from './players/player-spec.js';
export { parseSprt, type SprtSettings } from './statistics/sprt.js';
export { listPlayers, type SelfPlayPlayer } from './training/self-play-run.js';
export { playSelfPlaySession, type SelfPlaySummary } from './training/self-play-session.js';
export { LONGEST_GAME, type MoveLimits, type SelfPlaySettings } from './training/self-play-settings.js';
