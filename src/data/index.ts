/** The door of data/: games and records into training shards, self-play games into lc0's training records, and those corrected. */

export { createShards, type ShardsOptions, type ShardsSummary } from './create-shards.js';
export { findInputKind, isHopeless, readChunks, readUntilBreak } from './game-files.js';
export { formatResult } from './game-format.js';
export { attachGameLine, type GameLine } from './game-line.js';
export { type LabelledGame, parseLabelledGame, type Surprise } from './labelled-games.js';
export { readPolicySubstitutions } from './rescore/policy-substitutions.js';
export { type RescoreSettings, type RescoreSummary, rescoreGames } from './rescore/rescore-games.js';
export type { ResultTables } from './rescore/rescore-tables.js';
export { parseSplitShares } from './splits.js';
export { type SearchValue, V6GameRecorder } from './v6-recorder.js';
