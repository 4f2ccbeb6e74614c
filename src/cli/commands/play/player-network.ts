/** Creates the setup of a network player, for self-play and matches, from its flags. */

import { failure, type Result, success, unwrap } from '../../../base/util/index.js';
import { createPoolOptions, findDefaultConfigs, warnOfTables } from '../../../engine/app/index.js';
import { createSettings, listOptionSpecs } from '../../../engine/app/options.js';
import { findModel, isFileless, obtainNetwork } from '../../../engine/weights/index.js';
import type { NetworkSetup } from '../../../games/play/index.js';
import { createSearchParams } from '../../../search/index.js';
import { createDownloadBar } from '../../output.js';

type Setting = readonly [name: string, text: string];

/** lc0's values for self-play where they differ from those for play (selfplay/tournament.cc, PopulateOptions). */
export const SELF_PLAY_DEFAULTS: readonly Setting[] = [
  ['CPuct', '1.2'],
  ['CPuctFactor', '0'],
  ['FpuValue', '0'],
  ['PolicyTemperature', '1'],
  ['HistoryFill', 'no'],
  ['Temperature', '1'],
  ['DirichletNoiseEpsilon', '0.25'],
  ['StickyEndgames', 'false'],
  ['TwoFoldDraws', 'false'],
  ['OutOfOrderEval', 'false'],
  ['MaxCollisionVisits', '1'],
  ['MaxCollisionEvents', '1'],
  ['SmartPruningFactor', '0'],
];

/** Every player reads the same config files. */
const toldOfFaults = new Set<string>();

/**
 * @param flags names of flags or of UCI options; later ones win
 * @param defaults UCI names, overruled by config files and flags
 */
export async function createNetworkSetup(
  flags: readonly Setting[],
  defaults: readonly Setting[],
  onWarning: (text: string) => void,
): Promise<Result<NetworkSetup>> {
  const specs = listOptionSpecs();
  const settings: Setting[] = [];
  for (const [name, text] of flags) {
    const spec = specs.find(({ flag, uci }) => flag === name || uci.toLowerCase() === name.toLowerCase());
    if (spec === undefined) return failure(`A network player knows no "${name}"`);
    settings.push([spec.uci, text]);
  }
  const created = createSettings({ settings, positionals: [], showHidden: false }, findDefaultConfigs(), defaults);
  if (!created.ok) return created;
  const { options, faults } = created.value;
  for (const fault of faults) {
    if (!toldOfFaults.has(fault)) onWarning(fault);
    toldOfFaults.add(fault);
  }
  warnOfTables(options, onWarning);
  try {
    if (!isFileless(options)) unwrap(await obtainNetwork(options, createDownloadBar()));
    const pool = await createPoolOptions(options, onWarning);
    return success({
      name: options.getString('Backend'),
      poolKey: options.describe('pool', 'evaluator', 'tables'),
      pool: isFileless(options)
        ? pool
        : { ...pool, model: (edition) => findModel(options, edition, { isIdentified: true, onWarning }) },
      params: createSearchParams(options.values),
      timeManager: options.getString('TimeManager'),
      moveOverheadMs: options.getNumber('MoveOverheadMs'),
    });
  } catch (error) {
    return failure((error as Error).message);
  }
}
