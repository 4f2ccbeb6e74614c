export { createShards, type ShardsEvents, type ShardsOptions, type ShardsSummary } from './create-shards.js';
export { parseSplitShares, type SplitShares } from './game-split.js';
