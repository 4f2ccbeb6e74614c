/**
 * Reads the command line and config files into an option store. The command line overrules the files, and the files overrule a
 * command's own defaults. A file that the user named must exist and have no errors. In a default config file, invalid lines are
 * skipped and reported. Config files have lc0's format: one `--flag=value` per line, dashes optional, `#` starts a comment. Also
 * here: the list of all options of all rooms.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import { findHome, findXdgFolder, getConfigFolder } from '#platform/folders.js';
import { getProgramCommand } from '#platform/machine.js';
import { getProgramFolder } from '#platform/program-files.js';
import { freeText, mayNameFile, type OptionSpec, OptionStore, option } from '../../base/options/index.js';
import { suggestName } from '../../base/util/near-word.js';
import { cutText, failure, type Result, success } from '../../base/util/result.js';
import { networkOptions } from '../../networks/nn/options.js';
import { searchOptions } from '../../search/options.js';
import { acceptedOptions, engineOptions } from '../core/options.js';
import { conversationOptions } from '../uci/options.js';

// lc0's command line flags, and the lines of its config file, to options: `--name=value`, `--name value`, `--flag`,
// `--no-flag`, `-t 2`, `-t2`. Written by hand because the engine must answer `uci` before a command line package has
// loaded; commands with their own flags use yargs.

export interface ParsedFlags {
  /** UCI name and text, in the order given. */
  readonly settings: readonly (readonly [name: string, text: string])[];
  readonly positionals: readonly string[];
  readonly showHidden: boolean;
}

/** Flags of lc0 that are not options of the engine; `preload` is what we always do. */
const BARE_FLAGS = new Set(['show-hidden', 'preload']);

/** What the parser needs of a declaration; a command may add flags of its own. */
type FlagSpec = Pick<OptionSpec, 'uci' | 'flag' | 'alias' | 'kind'>;

export function parseFlags(args: readonly string[], specs: readonly FlagSpec[]): Result<ParsedFlags> {
  const byFlag = new Map(specs.filter((spec) => spec.flag !== '').map((spec) => [spec.flag, spec]));
  const byLetter = new Map(specs.flatMap((spec) => (spec.alias === undefined ? [] : [[spec.alias, spec]])));
  const settings: [string, string][] = [];
  const positionals: string[] = [];
  let showHidden = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    const long = /^--([\w-]+)(?:=(.*))?$/s.exec(arg);
    const short = /^-([a-zA-Z])=?(.*)$/s.exec(arg);
    if (long === null && short === null) {
      positionals.push(arg);
      continue;
    }
    const name = long?.[1] ?? short?.[1] ?? '';
    if (BARE_FLAGS.has(name)) {
      if (name === 'show-hidden') showHidden = true;
      continue;
    }
    const spec = long === null ? byLetter.get(name) : byFlag.get(name);
    let text = long === null ? short?.[2] || undefined : long[2];
    if (spec?.kind === 'bool') {
      settings.push([spec.uci, text ?? 'true']);
      continue;
    }
    const negated = name.startsWith('no-') ? byFlag.get(name.slice(3)) : undefined;
    if (spec === undefined && negated?.kind === 'bool' && text === undefined) {
      settings.push([negated.uci, 'false']);
      continue;
    }
    if (spec === undefined) {
      const flag = arg.split('=')[0];
      return failure(
        `Unknown flag ${arg}${suggestName(flag, [...byFlag.keys()], `${getProgramCommand()} --help lists them`)}`,
      );
    }
    text ??= looksLikeFlag(args[i + 1]) ? undefined : args[++i];
    if (text === undefined) return failure(`Flag ${arg} needs a value`);
    settings.push([spec.uci, text]);
  }
  return success({ settings, positionals, showHidden });
}

/** Negative numbers and the dash that means stdout are values. Another value that starts with a dash is written `--name=value`. */
function looksLikeFlag(arg: string | undefined): boolean {
  return arg !== undefined && /^--?[a-zA-Z]/.test(arg);
}

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
  const own = isOfCurrentFolder(path) && lines?.ok ? keepHarmless(lines.value) : lines;
  if (own !== lines && lines?.ok && own?.ok) faults.push(describeTaken(path, lines.value, own.value));
  let showsHidden = false;
  for (const line of own?.ok ? own.value : []) {
    const applied = applyLines(options, [line]);
    if (!applied.ok) faults.push(`In ${path}: ${applied.error}`);
    else showsHidden ||= applied.value;
  }
  return showsHidden;
}

/** The file may have come with an archive of a stranger: of it, no line may open a file or an address. */
function keepHarmless(lines: readonly string[]): Result<string[]> {
  const refused = new Set(
    listOptionSpecs()
      .filter(mayNameFile)
      .map(({ uci }) => uci),
  );
  return success(
    lines.filter((line) => {
      const parsed = parseFlags([line], listOptionSpecs());
      return !parsed.ok || !parsed.value.settings.some(([name]) => refused.has(name));
    }),
  );
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

// All options of all rooms: what `uci` lists, what flags set, what `--help` and the docs show.

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

export const configFileOption: OptionSpec = option(
  'ConfigFile',
  'config',
  freeText('lc0.config'),
  'File with one --flag=value a line, instead of lc0.config and sardonyx.config; empty = none.',
  { effect: 'start', alias: 'c' },
);

const LARGEST_CONFIG_BYTES = 1 << 16;

/** Files that are read if the user names none, in this order, each from the first folder that has it. */
export function findDefaultConfigs(): string[] {
  return listConfigPlaces().flatMap((places) => places.find((path) => existsSync(path)) ?? []);
}

/**
 * Where lc0's config file and ours may be. lc0's file is read first, so that our file overrules it. The current folder
 * comes before lc0's places (utils/configfile.cc): beside the program, the user's folder, the system's folders.
 */
export function listConfigPlaces(
  programFolder = getProgramFolder(),
  environment: NodeJS.ProcessEnv = process.env,
): readonly (readonly string[])[] {
  const here = ['', programFolder];
  const own = getConfigFolder(environment);
  return [
    [...here, ...listLc0Folders(environment)].map((folder) => join(folder, 'lc0.config')),
    (own === undefined ? here : [...here, own]).map((folder) => join(folder, 'sardonyx.config')),
  ];
}

/** Unless that is the program's folder too, or the user's: only those who may change them put a file there. */
export function isOfCurrentFolder(path: string): boolean {
  if (path !== basename(path)) return false;
  return !listConfigPlaces().some((places) =>
    places.some((place) => place !== path && resolve(place) === resolve(path)),
  );
}

function listLc0Folders(environment: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'win32') return [];
  const { XDG_CONFIG_DIRS } = environment;
  const home = findHome(environment);
  const inHome = (...parts: string[]): string[] => (home === undefined ? [] : [join(home, ...parts)]);
  if (process.platform === 'darwin') return inHome('Library', 'Preferences', 'lc0');
  const set = findXdgFolder('XDG_CONFIG_HOME', environment);
  const own = set === undefined ? inHome('.config') : [set];
  const folders = [...own, ...(XDG_CONFIG_DIRS || '/etc/xdg').split(':')];
  return folders.filter(isAbsolute).map((folder) => join(folder, 'lc0'));
}

export function parseConfig(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('-') ? line : `--${line}`))
    .map((line) => line.replace(/^(--?[\w-]+)(?:\s*=\s*|\s+)/, '$1='));
}

/** In UTF-8, or in UTF-16 as PowerShell's `>` writes it. */
function decodeConfig(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('latin1');
  const encoding = mark === '\xff\xfe' ? 'utf-16le' : mark === '\xfe\xff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** @returns the flags of the file; null if it does not exist */
export function readConfig(path: string): Result<string[]> | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > LARGEST_CONFIG_BYTES) {
      return failure(
        `Cannot read the config file ${path}: ${stats.isDirectory() ? 'it is a folder' : 'it is no text file of 64 kB at most'}`,
      );
    }
    return success(parseConfig(decodeConfig(readFileSync(path))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    return failure(`Cannot read the config file ${path}: ${describeReadFailure(error)}`);
  }
}
