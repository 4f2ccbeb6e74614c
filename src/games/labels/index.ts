/** The door of labels/: positions and games with the scores of an engine. */
export { LabelFiles } from './label-files.js';
export { LabelNetwork } from './label-network.js';
export { createGameJobs, type LabelJob, runLabelling } from './label-run.js';
export type { LabelSettings, PositionSettings } from './label-settings.js';
export {
  countPasses,
  openSources,
  PLAYER_RESULTS,
  type PlayerResult,
  readSources,
  type SourceFile,
  type SourceFilter,
} from './label-sources.js';
export { openStartBooks, parseStartSource } from './label-starts.js';
export { createPositionJobs } from './position-jobs.js';
