/**
 * Every tunable of the search: lc0's names, flags, defaults and ranges (lc0: search/classic/params.cc, stoppers/common.cc).
 * The tables lie in params/, by theme. UCI options, command-line flags, `--help`, the option table of the docs and the typed
 * `SearchParams` object are all derived from them. Options of evaluation belong to nn/, time managers to search/time.
 */
import type { OptionSpec, OptionValue } from '../options/index.js';
import { batchingOptions } from './params/batching-options.js';
import { contemptOptions } from './params/contempt-options.js';
import { moveChoiceOptions } from './params/move-choice-options.js';
import { movesLeftOptions } from './params/moves-left-options.js';
import { rootNoiseOptions } from './params/root-noise-options.js';
import { selectionOptions } from './params/selection-options.js';
import { stoppingOptions } from './params/stopping-options.js';
import { treeOptions } from './params/tree-options.js';

export { LARGEST_MINIBATCH } from './params/batching-options.js';

const table = {
  ...treeOptions,
  ...batchingOptions,
  ...selectionOptions,
  ...rootNoiseOptions,
  ...movesLeftOptions,
  ...contemptOptions,
  ...moveChoiceOptions,
  ...stoppingOptions,
} as const satisfies Record<string, OptionSpec>;

type Table = typeof table;
type ValueOf<Spec extends OptionSpec> = Spec extends { kind: 'float' | 'int' }
  ? number
  : Spec extends { kind: 'bool' }
    ? boolean
    : Spec extends { kind: 'choice'; choices: readonly (infer Choice)[] }
      ? Choice
      : string;

/** All search tunables under their code names, as plain numbers, booleans and strings: it can be posted to a thread. */
export type SearchParams = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

export const searchOptions: readonly OptionSpec[] = Object.values(table);

export const defaultSearchParams: SearchParams = Object.fromEntries(
  Object.entries(table).map(([name, spec]) => [name, spec.default]),
) as unknown as SearchParams;

/**
 * The typed parameters for values keyed by UCI name (as `parseOptionValue` returns them); what is not given keeps its
 * default, names of other rooms are ignored.
 */
export function createSearchParams(valuesByUciName: ReadonlyMap<string, OptionValue>): SearchParams {
  const given = Object.entries(table).flatMap(([name, spec]) => {
    const value = valuesByUciName.get(spec.uci);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...defaultSearchParams, ...Object.fromEntries(given) };
}
