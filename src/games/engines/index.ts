/** The door of engines/: external UCI engines, their pipes and what starts them. */
export { EngineError } from './engine-process.js';
export { createEngineSpec, type EngineSpec, formatPairs, type Pair, parsePairs } from './engine-spec.js';
export { decodeMate, encodeScore, type UciInfo } from './info-lines.js';
export { UciClient, type UciLimits } from './uci-client.js';
