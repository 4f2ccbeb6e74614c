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

export interface PlayerSources {
  readonly players: readonly [PlayerSource, PlayerSource];
  /** Digests of the networks of this process, in the players' order. */
  readonly networks: readonly string[];
}

/** Loads the networks of this process; rejects with one sentence for the user when one cannot be used. */
export async function createPlayerSources(
  specs: readonly [PlayerSpec, PlayerSpec],
  options: SourceOptions,
): Promise<Result<PlayerSources>> {
  const table = {
    pools: new NetworkPools(),
    scheduler: new SearchScheduler(),
    concurrency: Math.max(1, options.concurrency),
  };
  const sources: PlayerSource[] = [];
  const setups: NetworkSetup[] = [];
  for (const spec of specs) {
    if (spec.kind === 'random') sources.push(createRandomSource(spec.name));
    else if (spec.kind === 'uci') {
      const engine = await nameEngine(spec.engine, options.chess960);
      if (!engine.ok) return engine;
      sources.push(createUciSource(engine.value, spec.limits, options.chess960));
    } else {
      const setup = await options.setUpNetwork(spec.weights, spec.options);
      if (!setup.ok) return setup;
      setups.push(setup.value);
      sources.push(createNetworkSource(setup.value, spec.name ?? setup.value.name, spec.limits, table));
    }
  }
  return success({ players: [sources[0], sources[1]], networks: await openNetworks(table.pools, setups) });
}

/** @returns their digests */
async function openNetworks(pools: NetworkPools, setups: readonly NetworkSetup[]): Promise<string[]> {
  try {
    const digests: string[] = [];
    for (const setup of setups) {
      const { weightsDigest } = await pools.open(setup);
      if (weightsDigest !== null) digests.push(weightsDigest);
    }
    return digests;
  } catch (error) {
    await pools.close();
    throw error;
  }
}
