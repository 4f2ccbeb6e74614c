/** The engine's network port over a pool of evaluator threads. */

import type { OptionStore } from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import { Tablebases } from '../../chess/syzygy/index.js';
import { EvaluatorPool, type PoolOptions } from '../../networks/nn/index.js';
import { SearchClient } from '../../search/index.js';
import {
  createPoolNetwork,
  type EnginePorts,
  getTablebaseSettings,
  MateClient,
  type NetworkPort,
  readPoolOptions,
} from '../core/index.js';
import {
  BUILT_IN,
  describeDownload,
  isFileless,
  loadNetwork,
  needsMeasuredLevels,
  obtainNetwork,
  type ResolvedNetwork,
  resolveNetwork,
} from '../weights/index.js';

/**
 * Finds the network, and downloads it if need be. Rejects with one sentence for the user.
 * @param onNetwork called with the network, and again if that of the CPU takes its place because the device fails
 */
export async function createPoolOptions(
  options: OptionStore,
  onWarning: (text: string) => void,
  onProgress = onWarning,
  onNetwork?: (network: ResolvedNetwork) => void,
): Promise<PoolOptions> {
  const pool = readPoolOptions(options, onWarning);
  if (isFileless(options)) return pool;
  unwrap(await obtainNetwork(options, describeDownload(onProgress)));
  const found = unwrap(await resolveNetwork(options));
  onNetwork?.(found);
  const settings = { onWarning };
  return {
    ...pool,
    // If the device fails, evaluation falls back to the CPU, which may use another network.
    model: async ({ provider, precision }) => {
      if (provider === found.provider) return loadNetwork(found, precision, settings);
      const standIn = await resolveNetwork(options, provider);
      if (!standIn.ok) return standIn;
      onNetwork?.(standIn.value);
      return loadNetwork(standIn.value, precision, settings);
    },
  };
}

/** The real network and search behind the engine's ports. */
export const enginePorts: EnginePorts = {
  createNetwork,
  describeChoice: (options) => (needsMeasuredLevels(options) ? 'levels' : ''),
  createSearch: (events) => new SearchClient(events),
  createMateSearch: () => new MateClient(),
};

/** The bundled network on the default backend. Everything else, threads included, stays. */
export function createSpareOptions(options: OptionStore): OptionStore {
  const spare = options.clone();
  unwrap(spare.set('WeightsFile', BUILT_IN));
  unwrap(spare.set('Backend', 'auto'));
  unwrap(spare.set('BackendOptions', ''));
  return spare;
}

/** With the reason why this network plays. */
async function createNetwork(
  options: OptionStore,
  warn: (text: string) => void,
  avoidsDevice: boolean,
  tell: (text: string) => void,
): Promise<NetworkPort> {
  let reason = '';
  const pool = await createPoolOptions(options, warn, tell, (network) => {
    reason = network.reason;
  });
  return createPoolNetwork(await EvaluatorPool.create({ ...pool, avoidsDevice }), reason);
}

/** Folders that were reported: several players of a command may name the same ones. */
const toldOfTables = new Set<string>();

/** Reports invalid tablebase folders, for commands without an engine that would do it. */
export function warnOfTables(options: OptionStore, onWarning: (text: string) => void): void {
  const { paths } = getTablebaseSettings(options);
  for (const warning of new Tablebases(paths, onWarning).warnings) {
    if (!toldOfTables.has(warning)) onWarning(warning);
    toldOfTables.add(warning);
  }
}
