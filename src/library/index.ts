/**
 * The door of library/: the typed engine of a program, the same for Node (src/index.ts) and for pages (src/web), which differ in
 * options and ports.
 */
export type {
  BestMoveAnswer,
  ChessEngine,
  EngineSettings,
  Evaluation,
  GoLimits,
  Info,
  InfoLine,
  NetworkSource,
  PositionSetup,
  Search,
} from './chess-engine.js';
export { createChessEngine } from './create-chess-engine.js';
