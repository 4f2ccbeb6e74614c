/** The npm package in Node: `import { createEngine } from 'sardonyx'`. In a page it is `sardonyx/web`, with the same types. */

import { enginePorts } from './app/index.js';
import { createOptionStore } from './app/options.js';
import { type ChessEngine, createChessEngine, type EngineSettings } from './library/index.js';

export type * from './library/index.js';

/** Resolves when the network is loaded; rejects with one sentence when it cannot be. */
export function createEngine(settings: EngineSettings = {}): Promise<ChessEngine> {
  return createChessEngine(settings, { options: createOptionStore(), ports: enginePorts });
}
