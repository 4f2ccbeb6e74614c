/** The real things behind the engine's ports. */
import type { EnginePorts } from '../engine/index.js';
import { SearchWorkerClient } from '../search/index.js';
import { createTunedNetwork } from './evaluator-network.js';

export const enginePorts: EnginePorts = {
  createNetwork: createTunedNetwork,
  createSearch: (events) => new SearchWorkerClient(events),
};
