/** All options of all rooms: what `uci` lists, what flags set, what `--help` and the docs show. */

import { freeText, type OptionSpec, OptionStore, option } from '../../base/options/index.js';
import { networkOptions } from '../../networks/nn/options.js';
import { searchOptions } from '../../search/options.js';
import { acceptedOptions, engineOptions } from '../core/options.js';
import { conversationOptions } from '../uci/options.js';

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

const configFileOption: OptionSpec = option(
  'ConfigFile',
  'config',
  freeText('lc0.config'),
  'File with one --flag=value a line, instead of lc0.config and sardonyx.config; empty = none.',
  { effect: 'start', alias: 'c' },
);
