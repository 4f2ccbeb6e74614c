/** A player's specification → what makes its players. */

import { SearchScheduler } from '../../search/index.js';
import { type Result, success } from '../../util/index.js';
import { NetworkPools, type NetworkSetup } from '../network/network-setup.js';
import { createNetworkSource } from './network-player.js';
import type { PlayerSource } from './player.js';
import type { Pair, PlayerSpec } from './player-spec.js';
import { createRandomSource } from './random-player.js';
import { createUciSource, nameEngine } from './uci-player.js';

export interface SourceOptions {
  readonly chess960: boolean;
  readonly concurrency: number;
  /** Reads a network's file and flags. */
  readonly setUpNetwork: (weights: string, flags: readonly Pair[]) => Promise<Result<NetworkSetup>>;
}

export async function createPlayerSources(
  specs: readonly [PlayerSpec, PlayerSpec],
  options: SourceOptions,
): Promise<Result<[PlayerSource, PlayerSource]>> {
  const table = {
    pools: new NetworkPools(),
    scheduler: new SearchScheduler(),
    concurrency: Math.max(1, options.concurrency),
  };
  const sources: PlayerSource[] = [];
  for (const spec of specs) {
    if (spec.kind === 'random') sources.push(createRandomSource(spec.name));
    else if (spec.kind === 'uci') {
      const engine = await nameEngine(spec.engine, options.chess960);
      if (!engine.ok) return engine;
      sources.push(createUciSource(engine.value, spec.limits, options.chess960));
    } else {
      const setup = await options.setUpNetwork(spec.weights, spec.options);
      if (!setup.ok) return setup;
      sources.push(createNetworkSource(setup.value, spec.name ?? setup.value.name, spec.limits, table));
    }
  }
  return success([sources[0], sources[1]]);
}
