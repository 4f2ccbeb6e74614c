/** The door of data/: games and records into training shards, self-play games into lc0's training records. */
export { findInputKind, isHopeless, readChunks, readUntilBreak } from './byte-stream.js';
export { createShards, type ShardsOptions, type ShardsSummary } from './create-shards.js';
export { attachGameLine, formatResult, type GameLine, parseSplitShares } from './game-format.js';
export { type LabelledGame, parseLabelledGame, type Surprise } from './labelled-games.js';
export { type RescoreSettings, type RescoreSummary, rescoreGames } from './rescore/rescore-games.js';
export { type ResultTables, readPolicySubstitutions } from './rescore/rescore-tables.js';
export { type SearchValue, V6GameRecorder } from './v6-games.js';
