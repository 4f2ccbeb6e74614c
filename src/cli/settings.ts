/** Command line and config files → an option store. The command line wins over the files; a named file must exist. */
import type { OptionStore } from '../engine/index.js';
import { failure, type Result, success } from '../util/index.js';
import { DEFAULT_CONFIG_FILES, readConfig } from './config-file.js';
import { applySettings, type ParsedFlags, parseFlags } from './flags.js';
import { createOptionStore, listOptionSpecs } from './option-list.js';

export interface Settings {
  readonly options: OptionStore;
  readonly positionals: readonly string[];
  readonly showHidden: boolean;
}

export function readSettings(args: readonly string[]): Result<Settings> {
  const parsed = parseFlags(args, listOptionSpecs());
  return parsed.ok ? createSettings(parsed.value) : parsed;
}

export function createSettings({ settings, positionals, showHidden }: ParsedFlags): Result<Settings> {
  const options = createOptionStore();
  options.set('LogFile', process.env.SARDONYX_LOG ?? '');
  const named = settings.findLast(([name]) => name === 'ConfigFile')?.[1];
  let showsHidden = showHidden;
  for (const path of named === undefined ? DEFAULT_CONFIG_FILES : [named]) {
    const fromFile = readConfigSettings(path);
    if (fromFile === null && named !== undefined) return failure(`There is no config file ${path}`);
    if (fromFile === null) continue;
    if (!fromFile.ok) return fromFile;
    const applied = applySettings(options, fromFile.value.settings);
    if (!applied.ok) return failure(`In ${path}: ${applied.error}`);
    showsHidden ||= fromFile.value.showHidden;
  }
  const applied = applySettings(options, settings);
  if (!applied.ok) return applied;
  return success({ options, positionals, showHidden: showsHidden });
}

function readConfigSettings(path: string): Result<ParsedFlags> | null {
  const lines = readConfig(path);
  if (lines === null || !lines.ok) return lines;
  const parsed = parseFlags(lines.value, listOptionSpecs());
  return parsed.ok ? parsed : failure(`In ${path}: ${parsed.error}`);
}
