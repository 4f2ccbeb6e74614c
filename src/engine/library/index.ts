/**
 * The door of library/: the typed engine of a program, the same for Node (src/index.ts) and for pages (src/web), which differ in
 * options and ports. Its types are in `chess-engine.ts`, a light door: programs compile them without any other file of ours.
 */
export { createChessEngine, createChessEnginePool } from './create-chess-engine.js';
export { type EngineHost, type HostEvents, type HostPosition, type HostTask, LocalHost } from './engine-host.js';
