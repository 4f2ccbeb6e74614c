/** The real things behind the engine's ports. */
import type { EnginePorts } from '../engine/index.js';
import { SearchThread } from '../search/index.js';
import { createTunedNetwork, RELOADING_OPTIONS } from './evaluator-network.js';

export const enginePorts: EnginePorts = {
  networkOptionNames: RELOADING_OPTIONS,
  createNetwork: createTunedNetwork,
  createSearch: (events) => new SearchThread(events),
};
