/**
 * The one declaration of a tunable. UCI options, command-line flags, `--help` and the option table of the docs are all derived
 * from lists of declarations, so that a name, default or range is written once.
 */
import { getCoreCount, getMemoryBytes } from '#platform/machine.js';
import { cutText, failure, type Result, success } from '../util/result.js';

/**
 * The part of a running engine that a change of the option affects. The store calls the handlers connected for that effect.
 *
 * search      no handler: the value is read when the next search begins
 * display     no handler: the value is read whenever something is shown
 * log         the log goes to another file
 * evaluator   results of the evaluators: the cache must be cleared
 * pool        the evaluator threads: they must be started again
 * tables      the tablebases: tree and evaluators must not keep results of other tables
 * strength    limited strength, which plays with the network whose levels were measured: another one may have to be loaded
 * forgetTree  the search tree is dropped
 * forgetAll   the search tree and all cached evaluations are dropped
 * start       nothing: it is read only when the program starts
 * ignored     nothing: accepted for the sake of GUIs and of configurations made for other engines
 */
export type OptionEffect =
  | 'search'
  | 'display'
  | 'log'
  | 'evaluator'
  | 'pool'
  | 'tables'
  | 'strength'
  | 'forgetTree'
  | 'forgetAll'
  | 'start'
  | 'ignored';

export interface OptionCommon {
  /** UCI name, lc0's spelling where lc0 has the option. */
  readonly uci: string;
  /** Command-line flag without the dashes, lc0's spelling where lc0 has it; empty when the option is UCI-only. */
  readonly flag: string;
  /** One-letter flag, when lc0 has one. */
  readonly alias?: string;
  /** Listed by `uci` only with `--show-hidden`, but it can always be set. */
  readonly hidden?: boolean;
  /** What a change affects; absent = search. */
  readonly effect?: OptionEffect;
  /** Names that GUIs or other engines have for it; each can be set and is listed like an option of its own. */
  readonly otherNames?: readonly string[];
  /** A check beyond kind and range. */
  readonly check?: OptionCheck;
  /** What each unit of the value takes of the machine: a core, or so many bytes. */
  readonly reserves?: 'core' | number;
  /** One line for `--help`. */
  readonly help: string;
}

/** @param values of all options, before the change */
export type OptionCheck = (value: OptionValue, values: ReadonlyMap<string, OptionValue>) => Result<unknown>;

interface NumberRange {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export interface FloatKind extends NumberRange {
  readonly kind: 'float';
}

export interface IntKind extends NumberRange {
  readonly kind: 'int';
  /** A value outside the range counts as the nearest inside, with a note to the user; otherwise it is refused. */
  readonly clamps?: true;
}

export interface BoolKind {
  readonly kind: 'bool';
  readonly default: boolean;
}

export interface ChoiceKind<Choice extends string = string> {
  readonly kind: 'choice';
  readonly default: string;
  readonly choices: readonly Choice[];
  /** Further choices that are accepted but not listed: names from other engines' configuration files. */
  readonly otherChoices?: readonly string[];
  /** Other words for choices, by word; the choice is what is stored. */
  readonly synonyms?: Readonly<Record<string, string>>;
}

export interface StringKind {
  readonly kind: 'string';
  readonly default: string;
  /** It never names a file, a device or an address. */
  readonly isPlainText?: true;
}

type OptionKind = FloatKind | IntKind | BoolKind | ChoiceKind | StringKind | { readonly kind: 'button' };

export type OptionSpec = OptionCommon & OptionKind;

export type OptionValue = number | boolean | string;

/** The type of an option's values, a choice's words included. */
export type ValueOf<Spec> =
  Spec extends ChoiceKind<infer Choice> ? Choice : Spec extends { readonly default: infer Value } ? Value : never;

/** A row of a table of options: `option('CPuct', 'cpuct', float(1.745, 0, 100), 'Exploration constant.')`. */
export function option<Kind extends OptionKind>(
  uci: string,
  flag: string,
  kind: Kind,
  help: string,
  more: Partial<OptionCommon> = {},
): OptionCommon & Kind {
  return { uci, flag, help, ...kind, ...more };
}

export const float = (value: number, min: number, max: number): FloatKind => ({
  kind: 'float',
  default: value,
  min,
  max,
});
export const int = (value: number, min: number, max: number): IntKind => ({ kind: 'int', default: value, min, max });
export const bool = (value: boolean): BoolKind => ({ kind: 'bool', default: value });
export const freeText = (value: string): StringKind => ({ kind: 'string', default: value });
/** A text that never names a file, a device or an address. */
export const plainText = (value: string): StringKind => ({ kind: 'string', default: value, isPlainText: true });
export const oneOf = <const Choice extends string>(
  value: NoInfer<Choice>,
  choices: readonly Choice[],
): ChoiceKind<Choice> => ({ kind: 'choice', default: value, choices });
export const BUTTON = { kind: 'button' } as const;
/** Listed by `uci` only with `--show-hidden`. */
export const HIDDEN = { hidden: true } as const;

/** The declarations of an option's other names: the same kind and range, UCI only. */
export function listOtherNames(spec: OptionSpec): readonly OptionSpec[] {
  const { otherNames = [], alias: _, check: __, ...rest } = spec;
  return otherNames.map((uci) => ({ ...rest, uci, flag: '', help: `Another name of ${spec.uci}.` }));
}

/** Pages, records of matches and config files of the current folder cannot set it. */
export function mayNameFile(spec: OptionSpec): boolean {
  return spec.kind === 'string' && spec.isPlainText !== true;
}

/**
 * The option as pages and records of matches may set it: at most half of the machine's memory, and its cores.
 * @param sharers players of a match, each of which may reserve as much memory
 */
export function limitToShare(spec: OptionSpec, sharers = 1): OptionSpec {
  if (spec.kind !== 'int' || spec.reserves === undefined) return spec;
  const share = spec.reserves === 'core' ? getCoreCount() : getMemoryBytes() / 2 / sharers / spec.reserves;
  return { ...spec, max: Math.min(spec.max, Math.floor(share)) };
}

/** The UCI protocol's way to write an empty string. */
const EMPTY = '<empty>';

/** Removes the quotes around a path; Windows copies paths with them. */
function unquote(text: string): string {
  const [, , inside = text] = /^\s*(["'])([^"']*)\1\s*$/.exec(text) ?? [];
  return inside;
}

/** Not all that Number() reads: no 0x10, no empty text. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Text from a GUI or a command line → the option's value; the sentence names the option and its range. */
export function parseOptionValue(spec: OptionSpec, text: string): Result<OptionValue> {
  switch (spec.kind) {
    case 'float':
    case 'int': {
      const value = DECIMAL.test(text.trim()) ? Number(text) : Number.NaN;
      const isWhole = spec.kind === 'float' || Number.isInteger(value);
      if (!Number.isFinite(value) || !isWhole) {
        return failure(
          `Option ${spec.uci} needs ${spec.kind === 'int' ? 'a whole' : 'a'} number, not "${cutText(text)}"`,
        );
      }
      if (value < spec.min || value > spec.max) {
        if (spec.kind === 'int' && spec.clamps) return success(Math.min(spec.max, Math.max(spec.min, value)));
        return failure(`Option ${spec.uci} must lie between ${spec.min} and ${spec.max}, not ${text.trim()}`);
      }
      return success(value);
    }
    case 'bool': {
      const lower = text.trim().toLowerCase();
      if (lower === 'true' || lower === 'on' || lower === '1') return success(true);
      if (lower === 'false' || lower === 'off' || lower === '0') return success(false);
      return failure(`Option ${spec.uci} must be true or false, not "${cutText(text)}"`);
    }
    case 'choice': {
      const { choices, otherChoices = [], synonyms = {} } = spec;
      const word = text.trim().toLowerCase();
      const meant = Object.hasOwn(synonyms, word) ? synonyms[word] : word;
      const choice = [...choices, ...otherChoices].find((name) => name.toLowerCase() === meant);
      if (choice !== undefined) return success(choice);
      return failure(`Option ${spec.uci} must be one of ${spec.choices.join(', ')}, not "${cutText(text)}"`);
    }
    case 'string':
      return success(text.trim() === EMPTY ? '' : unquote(text));
    case 'button':
      return success(true);
  }
}
