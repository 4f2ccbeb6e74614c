/** The door of engine/: the engine behind UCI, without text. */

export { Analyst, type Answer } from './analyst.js';
export { getTablebaseSettings, type TablebaseResult } from './endgame-tables.js';
export { Engine } from './engine.js';
export {
  createGamePosition,
  type GamePosition,
  POSITION_REFUSED,
  PositionReader,
  writesKingTakesRook,
} from './game-position.js';
export { type GoRequest, isUnlimited } from './go-request.js';
export { MateClient } from './mate-client.js';
export { computeRootScore, getMovesLeft, type RootMoveStats, type RootStats } from './move-stats.js';
export { PerftClient } from './perft-client.js';
export { createPoolNetwork, readPoolOptions } from './pool-network.js';
export type {
  BestMove,
  EngineListener,
  EnginePorts,
  MateSearchPort,
  NetworkPort,
  SearchPort,
  SearchPortEvents,
} from './ports.js';
export type { ReportLine, Score, SearchReport } from './search-report.js';
