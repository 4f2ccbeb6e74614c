/**
 * The values of all options of all rooms, by lc0's names, case-insensitive. A value is checked before it is stored; a value
 * that is refused changes nothing.
 *
 * An option may have several names. GUIs send back every option that was announced, so the default that arrives under one name
 * must not undo a value that was set under another.
 *
 * A change takes effect in one way: the store calls the handlers that are connected for the option's effect. No other code
 * compares values to notice a change. Also here: `OptionSpec`, the declaration of an option.
 */
import { getCoreCount, getMemoryBytes } from '#platform/machine.js';
import { cutText, failure, type Result, success } from '../util/result.js';

// The one declaration of a tunable. UCI options, command-line flags, `--help` and the option table of the docs are
// all derived from lists of these, so that a name, default or range is written once.

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

export interface FloatKind {
  readonly kind: 'float';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export interface IntKind {
  readonly kind: 'int';
  readonly default: number;
  readonly min: number;
  readonly max: number;
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

/** Functions to call when an option with the given effect changes, or a button with it is pressed. */
export type OptionHandlers = { readonly [Effect in OptionEffect]?: () => void } & {
  /** Called with one sentence for the user when a value outside the range was replaced. */
  readonly note?: (sentence: string) => void;
};

export class OptionStore {
  private readonly specs = new Map<string, OptionSpec>();
  /** The option that another name stands for. */
  private readonly targets = new Map<string, OptionSpec>();
  private readonly current = new Map<string, OptionValue>();
  /** By proper name: the name under which the value was set last. */
  private readonly givenAs = new Map<string, string>();
  /** The values that `announce` has given out as defaults. */
  private readonly announced = new Map<string, OptionValue>();
  private readonly connected = new Set<OptionHandlers>();

  constructor(specs: readonly OptionSpec[]) {
    for (const spec of specs) {
      this.add(spec);
      if (spec.kind !== 'button') this.current.set(spec.uci, spec.default);
    }
    for (const target of specs) {
      for (const spec of listOtherNames(target)) {
        this.add(spec);
        this.targets.set(spec.uci, target);
      }
    }
  }

  /** In order of declaration; other names last. */
  get declared(): readonly OptionSpec[] {
    return [...this.specs.values()];
  }

  /** By UCI name; buttons and other names have no value. */
  get values(): ReadonlyMap<string, OptionValue> {
    return this.current;
  }

  find(name: string): OptionSpec | undefined {
    return this.specs.get(name.toLowerCase());
  }

  /** The declarations with the current values as defaults: a client that sends them back changes nothing. */
  announce(): readonly OptionSpec[] {
    return this.declared.map((spec) => {
      const value = this.current.get(this.getTarget(spec).uci);
      if (spec.kind === 'button' || value === undefined) return spec;
      this.announced.set(spec.uci, value);
      return withDefault(spec, value);
    });
  }

  /** Calls a handler after each change of an option with its effect. @returns a function that disconnects the handlers */
  connect(handlers: OptionHandlers): () => void {
    this.connected.add(handlers);
    return () => this.connected.delete(handlers);
  }

  /**
   * Sets an option, or presses a button. Setting the current value again calls no handler.
   * @returns the option that was set, by its proper name
   */
  set(name: string, text: string): Result<OptionSpec> {
    const named = this.find(name);
    if (named === undefined) return failure(`Unknown option: ${name}`);
    const parsed = parseOptionValue(named, text);
    if (!parsed.ok) return parsed;
    const spec = this.getTarget(named);
    const isDefault = named.kind !== 'button' && parsed.value === (this.announced.get(named.uci) ?? named.default);
    const giver = this.givenAs.get(spec.uci);
    if (isDefault && giver !== undefined && giver !== named.uci) return success(spec);
    const checked = spec.check?.(parsed.value, this.current);
    if (checked?.ok === false) return checked;
    if (spec.kind === 'int' && spec.clamps && Number(text) !== parsed.value) {
      const sentence = `Option ${spec.uci} goes from ${spec.min} to ${spec.max}: ${text.trim()} counts as ${parsed.value}`;
      for (const { note } of this.connected) note?.(sentence);
    }
    if (spec.kind !== 'button') {
      if (!isDefault || this.current.get(spec.uci) !== parsed.value) this.givenAs.set(spec.uci, named.uci);
      if (this.current.get(spec.uci) === parsed.value) return success(spec);
      this.current.set(spec.uci, parsed.value);
    }
    for (const handlers of this.connected) handlers[spec.effect ?? 'search']?.();
    return success(spec);
  }

  /** The values of all options with these effects, as text to compare two stores of the same options. */
  describe(...effects: readonly OptionEffect[]): string {
    const chosen = this.declared.filter(({ effect = 'search' }) => effects.includes(effect));
    return JSON.stringify(chosen.map(({ uci }) => this.current.get(uci)));
  }

  /** Returns a store with the same options and current values, without handlers. */
  clone(): OptionStore {
    const copy = new OptionStore([]);
    for (const [key, spec] of this.specs) copy.specs.set(key, spec);
    for (const [name, target] of this.targets) copy.targets.set(name, target);
    for (const [name, value] of this.current) copy.current.set(name, value);
    for (const [name, giver] of this.givenAs) copy.givenAs.set(name, giver);
    return copy;
  }

  getNumber(name: string): number {
    return this.get(name, 'number') as number;
  }

  getBoolean(name: string): boolean {
    return this.get(name, 'boolean') as boolean;
  }

  getString(name: string): string {
    return this.get(name, 'string') as string;
  }

  private get(name: string, type: string): OptionValue {
    const value = this.current.get(name);
    if (typeof value !== type) throw new Error(`Option ${name} is not a declared ${type}`);
    return value as OptionValue;
  }

  private getTarget(spec: OptionSpec): OptionSpec {
    return this.targets.get(spec.uci) ?? spec;
  }

  private add(spec: OptionSpec): void {
    const key = spec.uci.toLowerCase();
    if (this.specs.has(key)) throw new Error(`Option ${spec.uci} is declared twice`);
    this.specs.set(key, spec);
  }
}

/** @param value of the kind of `spec` */
function withDefault(spec: OptionSpec, value: OptionValue): OptionSpec {
  if (spec.kind !== 'choice') return { ...spec, default: value } as OptionSpec;
  const choice = String(value);
  const choices = spec.choices.includes(choice) ? spec.choices : [...spec.choices, choice];
  return { ...spec, default: choice, choices };
}
