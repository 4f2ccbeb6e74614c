/** All options of all rooms: what `uci` lists, what flags set, what `--help` and the docs show. */

import { acceptedOptions, engineOptions } from '../engine/options.js';
import { networkOptions } from '../nn/options.js';
import { type OptionSpec, OptionStore } from '../options/index.js';
import { searchOptions } from '../search/options.js';
import { conversationOptions } from '../uci/options.js';
import { configFileOption } from './config-file.js';

export interface OptionSection {
  readonly title: string;
  readonly specs: readonly OptionSpec[];
}

/** By the part of the engine that reads them, in the order of `--help` and of the docs. */
export function listOptionSections(): readonly OptionSection[] {
  return [
    { title: 'Network', specs: networkOptions },
    { title: 'Engine', specs: engineOptions },
    { title: 'Conversation and files', specs: [...conversationOptions, configFileOption] },
    { title: 'Search', specs: searchOptions },
    { title: 'Accepted without effect', specs: acceptedOptions },
  ];
}

export function listOptionSpecs(): readonly OptionSpec[] {
  return listOptionSections().flatMap(({ specs }) => specs);
}

export function createOptionStore(): OptionStore {
  return new OptionStore(listOptionSpecs());
}
