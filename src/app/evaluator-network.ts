/** The engine's network port over a pool of evaluator threads. */
import {
  createPoolNetwork,
  type EnginePorts,
  getTablebaseSettings,
  MateClient,
  type NetworkPort,
  readPoolOptions,
} from '../engine/index.js';
import {
  BUILT_IN,
  describeDownload,
  explainNetwork,
  findModel,
  findTuning,
  isFileless,
  needsMeasuredLevels,
  obtainNetwork,
  resolveNetworkFile,
} from '../networks/index.js';
import { EvaluatorPool, type PoolOptions, type TunedSpeed } from '../nn/index.js';
import type { OptionStore } from '../options/index.js';
import { SearchClient } from '../search/index.js';
import { Tablebases } from '../syzygy/index.js';
import { unwrap } from '../util/index.js';

/** Rejects with one sentence for the user. */
export async function createPoolOptions(
  options: OptionStore,
  onWarning: (text: string) => void,
  onProgress = onWarning,
): Promise<PoolOptions> {
  const pool = readPoolOptions(options, onWarning);
  if (isFileless(options)) return pool;
  const obtained = await obtainNetwork(options, describeDownload(onProgress));
  if (!obtained.ok) throw new Error(obtained.error);
  const path = await resolveNetworkFile(options);
  if (!path.ok) throw new Error(path.error);
  return { ...pool, model: (edition) => findModel(options, edition, false, onWarning) };
}

/** The real network and search behind the engine's ports. */
export const enginePorts: EnginePorts = {
  createNetwork: createTunedNetwork,
  explainNetwork,
  describeChoice: (options) => (needsMeasuredLevels(options) ? 'levels' : ''),
  createSearch: (events) => new SearchClient(events),
  createMateSearch: () => new MateClient(),
};

/** The bundled network on the default backend. Everything else, threads included, stays. */
export function createSpareOptions(options: OptionStore): OptionStore {
  const spare = options.clone();
  for (const [name, value] of [
    ['WeightsFile', BUILT_IN],
    ['Backend', 'auto'],
    ['BackendOptions', ''],
  ] as const) {
    unwrap(spare.set(name, value));
  }
  return spare;
}

/** Uses the threads and batches that were tuned for this network, unless the user has set them. */
async function createTunedNetwork(
  options: OptionStore,
  warn: (text: string) => void,
  avoidsDevice = false,
  tell = warn,
): Promise<NetworkPort> {
  return createNetwork(options, warn, avoidsDevice, tell, (await findTuning(options)) ?? undefined);
}

export async function createNetwork(
  options: OptionStore,
  warn: (text: string) => void,
  avoidsDevice = false,
  tell = warn,
  tuned?: TunedSpeed,
): Promise<NetworkPort> {
  const pool = await EvaluatorPool.create({ ...(await createPoolOptions(options, warn, tell)), avoidsDevice, tuned });
  return createPoolNetwork(pool);
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
