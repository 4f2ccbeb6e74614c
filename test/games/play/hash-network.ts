/** Networks for tests of self-play: the hash evaluator instead of a file. */

import { createPrng } from '#sardonyx/base/util/index.js';
import { GameSearch } from '#sardonyx/games/play/game-search.js';
import { NetworkPool, type NetworkSetup } from '#sardonyx/games/play/network-pools.js';
import { defaultSearchParams, type SearchParams, type SearchScheduler } from '#sardonyx/search/index.js';

export interface HashNetwork {
  /** Options of the `hash` backend: seed, delay. */
  readonly backendOptions?: string;
  readonly threads?: number;
  /** Of `createFaultyThread`. */
  readonly threadScript?: URL;
  readonly minibatch?: number;
  readonly params?: Partial<SearchParams>;
}

export function hashNetwork(name: string, options: HashNetwork = {}): NetworkSetup {
  const { backendOptions = '', threads = 2, minibatch = 4, threadScript } = options;
  const faulty = threadScript === undefined ? {} : { threadScript };
  return {
    name,
    poolKey: JSON.stringify({ backendOptions, threads, minibatch, threadScript }),
    pool: { backend: 'hash', backendOptions, threads, minibatch, cachePositions: 0, policyTemperature: 1, ...faulty },
    params: { ...defaultSearchParams, smartPruningFactor: 0, twoFoldDraws: false, ...options.params },
    timeManager: 'legacy',
    moveOverheadMs: 10,
  };
}

export function createGameSearch(pool: NetworkPool, scheduler: SearchScheduler, network: NetworkSetup): GameSearch {
  return new GameSearch({
    pool,
    scheduler,
    params: network.params,
    batching: { minibatch: 1, batchesInFlight: 1 },
    random: createPrng(1),
    initialNodes: 256,
    maxBytes: 2 ** 26,
  });
}

export async function withPool<T>(network: NetworkSetup, use: (pool: NetworkPool) => Promise<T>): Promise<T> {
  const pool = await NetworkPool.open(network.pool);
  try {
    return await use(pool);
  } finally {
    await pool.close();
  }
}
