/**
 * The npm package in a page: `import { createEngine } from 'sardonyx/web'`, with the types of the Node library. The rules, options
 * and bookkeeping run where it is called; search, evaluation and the conversion of networks have threads of their own.
 */
import type { ChessEngine, EnginePool, EngineSettings, PoolSettings } from '../engine/library/chess-engine.js';
import {
  createChessEngine,
  createChessEnginePool,
  type EngineHost,
  type HostEvents,
  LocalHost,
} from '../engine/library/index.js';
import { createPageOptions, createPagePorts, findObstacle } from './page-network.js';

export type * from '../engine/library/chess-engine.js';

/** Without spare options: if the network cannot be loaded, `createEngine` rejects instead of using another one. */
const { createSpareOptions: _, ...libraryPorts } = createPagePorts();

/**
 * An engine in the page that calls it, or in a Worker of it. The page must be cross-origin isolated.
 *
 *     const engine = await createEngine({ weights: fileInput.files[0] });
 *     engine.position({ moves: ['e2e4'] });
 *     const search = engine.go({ moveTime: 1000 });
 *     for await (const { lines } of search) show(lines[0].pv);
 *     const { move } = await search.bestMove;
 *
 * Resolves when the network is loaded. Rejects with an Error whose message is one sentence when the browser or page lacks what
 * the engine needs, or when the network cannot be loaded: the file is missing, is not a network, or its server forbids other
 * sites to read it (CORS).
 */
export async function createEngine(settings: EngineSettings = {}): Promise<ChessEngine> {
  requireBrowser();
  return createChessEngine(settings, createHost);
}

/** Several engines for many requests at once; two when the settings do not say. Rejects as `createEngine` does. */
export async function createEnginePool(settings: PoolSettings = {}): Promise<EnginePool> {
  requireBrowser();
  return createChessEnginePool(settings, createHost, 2);
}

function createHost(events: HostEvents): EngineHost {
  return new LocalHost(createPageOptions(), libraryPorts, events);
}

function requireBrowser(): void {
  const obstacle = findObstacle();
  if (obstacle !== null) throw new Error(obstacle);
}
