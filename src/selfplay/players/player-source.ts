/** Creates the sources of players from the players' specifications. */

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
  readonly players: readonly PlayerSource[];
  /** Digests of the networks of this process, in the players' order. */
  readonly networks: readonly string[];
}

/** Loads the networks of this process; rejects with one sentence for the user when one cannot be used. */
export async function createPlayerSources(
  specs: readonly PlayerSpec[],
  options: SourceOptions,
): Promise<Result<PlayerSources>> {
  const table = {
    pools: new NetworkPools(),
    scheduler: new SearchScheduler(),
    concurrency: Math.max(1, options.concurrency),
  };
  // Networks load slowly, so they are loaded last, after errors of the other players would have been found.
  const sources: (() => Promise<PlayerSource>)[] = [];
  const networks: string[] = [];
  for (const spec of specs) {
    if (spec.kind === 'random') sources.push(async () => createRandomSource(spec.name));
    else if (spec.kind === 'uci') {
      const engine = await nameEngine(spec.engine, options.chess960);
      if (!engine.ok) return engine;
      sources.push(async () => createUciSource(engine.value, spec.limits, options.chess960));
    } else {
      const setup = await options.setUpNetwork(spec.weights, spec.options);
      if (!setup.ok) return setup;
      sources.push(async () => {
        const { networkName, weightsDigest } = await table.pools.open(setup.value);
        if (weightsDigest !== null) networks.push(weightsDigest);
        return createNetworkSource(setup.value, spec.name ?? networkName ?? setup.value.name, spec.limits, table);
      });
    }
  }
  try {
    const players: PlayerSource[] = [];
    for (const create of sources) players.push(await create());
    return success({ players, networks });
  } catch (error) {
    await table.pools.close();
    throw error;
  }
}
