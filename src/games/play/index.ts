/** The door of play/: one game, its players and its adjudication. */
export {
  type AdjudicationRules,
  adjudicate,
  findTablebaseEnd,
  openGameTables,
  parseDrawRule,
  parseResignRule,
} from './adjudication.js';
export { Clock, formatTimeControl } from './clock.js';
export { Game, type PlayedMove } from './game.js';
export {
  countWhiteHalfPoints,
  createDraw,
  createWin,
  END_REASONS,
  type EndReason,
  findEndByLaws,
  type GameEnd,
  type ResultText,
} from './game-end.js';
export { type FinishedGameText, formatGame } from './game-pgn.js';
export { computeCentipawns, GameSearch } from './game-search.js';
export { type NetworkPool, NetworkPools, type NetworkSetup } from './network-pools.js';
export { type Player, PlayerFault, type PlayerLimits, type PlayerSource } from './player.js';
export { createPlayerSources } from './player-source.js';
export { createPlayerSpec, type PlayerSpec, parsePlayerWords } from './player-spec.js';
