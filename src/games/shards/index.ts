/** The door of shards/: games and records into training shards, and records corrected by tablebases. */
export { createShards, type ShardsOptions, type ShardsSummary } from './create-shards.js';
export { readPolicySubstitutions } from './rescore/policy-substitutions.js';
export { type RescoreSummary, rescoreGames } from './rescore/rescore-games.js';
export type { ResultTables } from './rescore/rescore-tables.js';
export { parseSplitShares } from './splits.js';
