/** The real things behind the engine's ports. */
import type { EnginePorts } from '../engine/index.js';
import { SearchWorkerClient } from '../search/index.js';
import { createTunedNetwork, RELOADING_OPTIONS } from './evaluator-network.js';

export const enginePorts: EnginePorts = {
  networkOptionNames: RELOADING_OPTIONS,
  createNetwork: createTunedNetwork,
  createSearch: (events) => new SearchWorkerClient(events),
};
