/**
 * Reads the command line and config files into an option store. The command line overrules the files, and the files overrule a
 * command's own defaults. A file that the user named must exist and have no errors. In a default config file, invalid lines are
 * skipped and reported.
 */

import { mayNameFile, type OptionStore } from '../../base/options/index.js';
import { cutText, failure, type Result, success } from '../../base/util/result.js';
import { createOptionStore, listOptionSpecs } from './all-options.js';
import { findDefaultConfigs, isOfCurrentFolder, readConfig } from './config-files.js';
import { type ParsedFlags, parseFlags } from './flags.js';

/** Stops at the first value that is refused. */
export function applySettings(store: OptionStore, settings: ParsedFlags['settings']): Result<true> {
  for (const [name, text] of settings) {
    const result = store.set(name, text);
    if (!result.ok) return result;
  }
  return success(true);
}

export interface Settings {
  readonly options: OptionStore;
  readonly positionals: readonly string[];
  readonly showHidden: boolean;
  /** Default config files that were found. */
  readonly found: readonly string[];
  /** Their invalid lines, and values that were replaced by others, one sentence each. */
  readonly faults: readonly string[];
}

export function readSettings(args: readonly string[], defaultConfigs = findDefaultConfigs()): Result<Settings> {
  const parsed = parseFlags(args, listOptionSpecs());
  return parsed.ok ? createSettings(parsed.value, defaultConfigs) : parsed;
}

/**
 * @param defaultConfigs read unless a file is named
 * @param defaults a command's own defaults, in place of the engine's
 */
export function createSettings(
  { settings, positionals, showHidden }: ParsedFlags,
  defaultConfigs = findDefaultConfigs(),
  defaults: ParsedFlags['settings'] = [],
): Result<Settings> {
  const options = createOptionStore();
  options.set('LogFile', process.env.SARDONYX_LOG ?? '');
  const prepared = applySettings(options, defaults);
  if (!prepared.ok) return prepared;
  const named = settings.findLast(([name]) => name === 'ConfigFile')?.[1];
  const found = named === undefined ? defaultConfigs : [];
  const faults: string[] = [];
  const disconnect = options.connect({ note: (sentence) => faults.push(sentence) });
  let showsHidden = showHidden;
  for (const path of found) showsHidden = applyFoundConfig(options, path, faults) || showsHidden;
  // As in lc0, an empty name means that no config file is read.
  if (named !== undefined && named !== '') {
    const hidden = applyNamedConfig(options, named);
    if (!hidden.ok) return hidden;
    showsHidden ||= hidden.value;
  }
  const applied = applySettings(options, settings);
  if (!applied.ok) return applied;
  disconnect();
  return success({ options, positionals, showHidden: showsHidden, found, faults });
}

/** @returns whether the file contains show-hidden */
function applyNamedConfig(options: OptionStore, path: string): Result<boolean> {
  const lines = readConfig(path);
  if (lines === null) return failure(`There is no config file ${path}`);
  if (!lines.ok) return lines;
  const applied = applyLines(options, lines.value);
  return applied.ok ? applied : failure(`In ${path}: ${applied.error}`);
}

/** @returns whether the file contains show-hidden */
function applyFoundConfig(options: OptionStore, path: string, faults: string[]): boolean {
  const lines = readConfig(path);
  if (lines?.ok === false) faults.push(lines.error);
  if (!lines?.ok) return false;
  let taken = lines.value;
  if (isOfCurrentFolder(path)) {
    taken = keepHarmless(lines.value);
    faults.push(describeTaken(path, lines.value, taken));
  }
  let showsHidden = false;
  for (const line of taken) {
    const applied = applyLines(options, [line]);
    if (!applied.ok) faults.push(`In ${path}: ${applied.error}`);
    else showsHidden ||= applied.value;
  }
  return showsHidden;
}

/** The file may have come with an archive of a stranger: of it, no line may open a file or an address. */
function keepHarmless(lines: readonly string[]): string[] {
  const specs = listOptionSpecs();
  const refused = new Set(specs.filter(mayNameFile).map(({ uci }) => uci));
  return lines.filter((line) => {
    const parsed = parseFlags([line], specs);
    return !parsed.ok || !parsed.value.settings.some(([name]) => refused.has(name));
  });
}

function describeTaken(path: string, lines: readonly string[], taken: readonly string[]): string {
  const left = lines.filter((line) => !taken.includes(line));
  const list = (given: readonly string[]): string => given.map((line) => cutText(line)).join(' ') || 'nothing';
  const rest =
    left.length === 0 ? '' : `; not ${list(left)}, because a config file of the current folder may not name files`;
  return `Read from ${path} of the current folder: ${list(taken)}${rest}`;
}

function applyLines(options: OptionStore, lines: readonly string[]): Result<boolean> {
  const parsed = parseFlags(lines, listOptionSpecs());
  if (!parsed.ok) return parsed;
  const [word] = parsed.value.positionals;
  if (word !== undefined) return failure(`"${word}" is not of the form name=value`);
  const applied = applySettings(options, parsed.value.settings);
  return applied.ok ? success(parsed.value.showHidden) : applied;
}
