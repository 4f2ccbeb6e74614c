/**
 * The engine's flags in commands that yargs parses: declared from the option list, read back into an option store.
 */
import type { Argv } from 'yargs';
import type { OptionSpec, OptionStore } from '../base/options/index.js';
import { unwrap } from '../base/util/index.js';
import { createSettings, listOptionSections, listOptionSpecs } from '../engine/app/options.js';
import { isFileless, obtainNetwork } from '../engine/weights/index.js';
import { createDownloadBar, printNote } from './output.js';

/** The engine's flags that were given on the command line, by flag. */
export type GivenFlags = ReadonlyMap<string, string>;

const POINTER =
  'The engine’s flags, such as --weights, --backend and --threads, work with this command too; `sardonyx --help` lists them.';

/** `named`: the command's help says where the engine's flags are listed; `listed`: it lists them, by section. */
export type EngineFlagsHelp = 'named' | 'listed';

/**
 * Without yargs' type `string`: help would repeat the word on every line, and the parser reads no numbers (program.ts).
 * @param isWanted tells which flags to add
 */
export function addEngineFlags(yargs: Argv, help: EngineFlagsHelp, isWanted: (flag: string) => boolean): void {
  for (const { title, specs } of listOptionSections()) {
    for (const spec of specs.filter(({ flag }) => flag !== '' && isWanted(flag))) {
      yargs.option(spec.flag, {
        ...(spec.alias === undefined ? {} : { alias: spec.alias }),
        ...(spec.kind === 'bool' ? { type: 'boolean' } : { requiresArg: true }),
        ...(help === 'named' ? { hidden: true } : { hidden: spec.hidden === true, group: `${title}:` }),
        describe: `${spec.help} ${describeRange(spec)}`,
      });
    }
  }
  if (help === 'named') yargs.epilogue(POINTER);
}

/** The engine's options with these flags; downloads the network that they name if it is missing. Rejects with one sentence. */
export async function readEngineFlags(given: GivenFlags): Promise<OptionStore> {
  const settings = listOptionSpecs().flatMap(({ flag, uci }) => {
    const value = given.get(flag);
    return value === undefined ? [] : [[uci, value] as const];
  });
  const { options, faults } = unwrap(createSettings({ settings, positionals: [], showHidden: false }));
  faults.forEach(printNote);
  if (!isFileless(options)) unwrap(await obtainNetwork(options, createDownloadBar()));
  return options;
}

function describeRange(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'int':
    case 'float':
      return `[${spec.min} to ${spec.max}, default ${spec.default}]`;
    case 'choice':
      return `[${spec.choices.join(', ')}; default ${spec.default}]`;
    case 'bool':
      return spec.default ? `[on by default; --no-${spec.flag} turns it off]` : '';
    case 'string':
      return spec.default === '' ? '' : `[default ${spec.default}]`;
    case 'button':
      return '';
  }
}
