/** The engine's flags in commands that yargs parses: declared from the option list, read back into an option store. */

import type { Argv } from 'yargs';
import { createSettings, listOptionSpecs } from '../app/options.js';
import type { OptionSpec, OptionStore } from '../options/index.js';
import { printNote } from './output.js';

const GROUP = 'Engine:';

export function addEngineFlags<Arguments>(yargs: Argv<Arguments>): Argv<Arguments> {
  for (const spec of listOptionSpecs()) {
    if (spec.flag === '') continue;
    yargs.option(spec.flag, {
      ...(spec.alias === undefined ? {} : { alias: spec.alias }),
      ...(spec.kind === 'bool' ? { type: 'boolean' } : { type: 'string', requiresArg: true }),
      group: GROUP,
      hidden: spec.hidden === true,
      describe: `${spec.help} ${describeRange(spec)}`,
    } as const);
  }
  return yargs;
}

/** Throws an Error with the sentence for the user. */
export function readEngineFlags(args: Record<string, unknown>): OptionStore {
  const settings = listOptionSpecs().flatMap((spec) => {
    const value = spec.flag === '' ? undefined : args[spec.flag];
    return value === undefined ? [] : [[spec.uci, String(Array.isArray(value) ? value.at(-1) : value)] as const];
  });
  const result = createSettings({ settings, positionals: [], showHidden: false });
  if (!result.ok) throw new Error(result.error);
  result.value.faults.forEach(printNote);
  return result.value.options;
}

function describeRange(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'int':
    case 'float':
      return `[${spec.min} to ${spec.max}, default ${spec.default}]`;
    case 'choice':
      return `[${spec.choices.join(', ')}; default ${spec.default}]`;
    case 'bool':
      return `[default ${spec.default}]`;
    case 'string':
      return spec.default === '' ? '' : `[default ${spec.default}]`;
    case 'button':
      return '';
  }
}
