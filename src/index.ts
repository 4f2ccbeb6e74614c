/** The npm package in Node: `import { createEngine } from 'sardonyx'`. In a page it is `sardonyx/web`, with the same types. */

import { getCoreCount } from '#platform/machine.js';
import { createEngineHost } from './engine/app/index.js';
import type { ChessEngine, EnginePool, EngineSettings, PoolSettings } from './engine/library/chess-engine.js';
import { createChessEngine, createChessEnginePool } from './engine/library/index.js';

export type * from './engine/library/chess-engine.js';

/** Resolves when the network is loaded; rejects with one sentence when it cannot be. */
export function createEngine(settings: EngineSettings = {}): Promise<ChessEngine> {
  return createChessEngine(settings, createEngineHost);
}

/** Several engines for many requests at once. Resolves when their network is loaded; rejects with one sentence when it cannot be. */
export function createEnginePool(settings: PoolSettings = {}): Promise<EnginePool> {
  return createChessEnginePool(settings, createEngineHost, getCoreCount());
}
