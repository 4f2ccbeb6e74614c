/** The door of core/: the engine behind UCI, without text. */

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
export { PerftClient } from './perft-client.js';
export { createPoolNetwork, readPoolOptions } from './pool-network.js';
export type {
  BestMove,
  EngineListener,
  EnginePorts,
  MateSearchPort,
  NetworkPort,
  SearchPort,
} from './ports.js';
export { computeRootScore, createMoveStatistics, getMovesLeft, type RootStats } from './root-stats.js';
export { createInfo, type ReportLine, type Score, type SearchReport } from './search-report.js';
