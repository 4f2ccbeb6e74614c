/** All options of all rooms in one store: what `uci` lists, what flags set, what `--help` and the docs show. */

import { acceptedOptions, engineAliases, engineChecks, engineOptions } from '../engine/options.js';
import { networkOptions } from '../nn/options.js';
import { type OptionSpec, OptionStore } from '../options/index.js';
import { searchOptions } from '../search/options.js';

export function listOptionSpecs(): readonly OptionSpec[] {
  return [...networkOptions, ...engineOptions, ...searchOptions, ...acceptedOptions];
}

export function createOptionStore(): OptionStore {
  return new OptionStore(listOptionSpecs(), engineAliases, engineChecks);
}
