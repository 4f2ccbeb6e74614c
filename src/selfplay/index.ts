/** The door of selfplay/: games between engines and networks, and their results, records and labels. */
export { createEngineSpec, type EngineSpec, formatPairs } from './client/engine-spec.js';
export { type AdjudicationRules, openGameTables, parseDrawRule, parseResignRule } from './game/adjudication.js';
export { END_REASONS, formatTimeControl } from './game/game.js';
export { LabelFiles } from './label/label-files.js';
export { LabelNetwork, type LabelNetworkSetup } from './label/label-network.js';
export { createGameJobs, type LabelJob, openStartBooks, parseStartSource, runLabelling } from './label/label-run.js';
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
export { type LivePosition, runMatch } from './match/match.js';
export {
  findLockOwner,
  LARGEST_RESULTS_BYTES,
  type LoggedGame,
  lockResults,
  MatchLog,
  type MatchOrigin,
} from './match/match-log.js';
export {
  type Crosstable,
  createCrosstable,
  createReport,
  distinguishNames,
  formatCrosstable,
  formatReport,
  type MatchReport,
} from './match/match-report.js';
export { Schedule, TOURNAMENT_KINDS, Tournament, type TournamentKind } from './match/tournament.js';
export { NetworkPools, type NetworkSetup } from './network/game-search.js';
export { createGameOpenings, createMatchOpenings, type OpeningOrder } from './openings/book.js';
export {
  createPlayerSources,
  createPlayerSpec,
  type Pair,
  type PlayerSpec,
  parsePlayerWords,
} from './players/player-source.js';
export { parseSprt, type SprtSettings } from './statistics.js';
export { listPlayers, type SelfPlayPlayer } from './training/self-play-run.js';
export { playSelfPlaySession, type SelfPlaySummary } from './training/self-play-session.js';
export { LONGEST_GAME, type MoveLimits, type SelfPlaySettings } from './training/self-play-settings.js';
