/** The door of play/: one game, its players and its adjudication. */
export {
  type AdjudicationRules,
  adjudicate,
  findTablebaseEnd,
  openGameTables,
  parseDrawRule,
  parseResignRule,
} from './adjudication.js';
export {
  Clock,
  countWhiteHalfPoints,
  createDraw,
  createWin,
  END_REASONS,
  type EndReason,
  formatGame,
  formatTimeControl,
  Game,
  type GameEnd,
  type PlayedMove,
  type ResultText,
} from './game.js';
export { computeCentipawns, GameSearch, type NetworkPool, NetworkPools, type NetworkSetup } from './game-search.js';
export { type Player, PlayerFault, type PlayerLimits, type PlayerSource } from './player.js';
export {
  createPlayerSources,
  createPlayerSpec,
  type Pair,
  type PlayerSpec,
  parsePlayerWords,
} from './player-source.js';
