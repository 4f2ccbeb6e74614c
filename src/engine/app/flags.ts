/**
 * lc0's command line flags, and the lines of its config file, to options: `--name=value`, `--name value`, `--flag`, `--no-flag`,
 * `-t 2`, `-t2`. Written by hand because the engine must answer `uci` before a command line package has loaded; commands with
 * their own flags use yargs.
 */

import { getProgramCommand } from '#platform/machine.js';
import type { OptionSpec } from '../../base/options/index.js';
import { suggestName } from '../../base/util/near-word.js';
import { failure, type Result, success } from '../../base/util/result.js';

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
