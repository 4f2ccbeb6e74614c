/**
 * How a command declares itself: a table of flags, a row each, from which yargs gets its options, `--help` its text and `run` the type of
 * its arguments: a flag that is not in the table does not compile. A number declares its range there, so commands check nothing again.
 * yargs' type `number` is not used: it turns "abc" into NaN before a message could quote it.
 */
import type { Argv, Options, PositionalOptions } from 'yargs';
import { listOptionSpecs } from '../engine/app/options.js';
import { addEngineFlags, addListedEngineFlags, type GivenFlags } from './engine-flags.js';

export interface Flag<Value> {
  readonly options: Options;
  /** Throws one sentence that names the flag. */
  read(given: unknown, name: string): Value;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type ValuesOf<Flags> = { readonly [Name in keyof Flags]: Flags[Name] extends Flag<infer Value> ? Value : never };

interface CommandDeclaration<Words extends FlagTable, Flags extends FlagTable> {
  /** As yargs writes them: `perft <depth>`, `encode [fen..]`; other names after the first. */
  readonly command: string | readonly string[];
  readonly describe: string;
  readonly words?: Words;
  readonly flags: Flags;
  /** The command takes the engine's flags as well. Its help names them, or lists them. */
  readonly engineFlags?: 'named' | 'listed';
  readonly epilogue?: string;
  run(args: ValuesOf<Words & Flags>, given: GivenFlags): void | Promise<void>;
}

export interface Command {
  /** Its first word, and other names. */
  readonly names: readonly string[];
  /** Names of its words, which stand without dashes. */
  readonly words: readonly string[];
  addTo(parser: Argv): void;
}

// biome-ignore lint/complexity/noBannedTypes: no words
export function declareCommand<Flags extends FlagTable, Words extends FlagTable = {}>(
  declaration: CommandDeclaration<Words, Flags>,
): Command {
  const { command, describe, words, flags, engineFlags, epilogue, run } = declaration;
  const build = (yargs: Argv): void => {
    if (engineFlags === 'named') addEngineFlags(yargs);
    if (engineFlags === 'listed') addListedEngineFlags(yargs);
    for (const [name, { options }] of Object.entries(words ?? {})) yargs.positional(name, toPositional(options));
    for (const [name, { options }] of Object.entries(flags)) yargs.option(name, options);
    if (epilogue !== undefined) yargs.epilogue(epilogue);
  };
  return {
    names: [command].flat().map((name) => name.split(' ')[0]),
    words: Object.keys(words ?? {}),
    addTo: (parser) => {
      parser.command([command].flat(), describe, build, (args) => run(readValues(args, words, flags), listGiven(args)));
    },
  };
}

/** Positional options know few of the keys. */
function toPositional({
  type,
  array,
  choices,
  default: value,
  defaultDescription,
  describe,
}: Options): PositionalOptions {
  const kind = type === 'string' ? { type } : {};
  const rest = { array, choices, default: value, defaultDescription, describe };
  return { ...kind, ...Object.fromEntries(Object.entries(rest).filter(([, inner]) => inner !== undefined)) };
}

/** The one place where what yargs read gets its type: the table gives both the names and the types. */
function readValues<Values>(args: Readonly<Record<string, unknown>>, words: FlagTable = {}, flags: FlagTable): Values {
  const rows = [
    ...Object.entries(words).map((row) => [`<${row[0]}>`, ...row] as const),
    ...Object.entries(flags).map((row) => [`--${row[0]}`, ...row] as const),
  ];
  const read = ({ options, read }: Flag<unknown>, given: unknown, title: string): unknown =>
    read(options.array === true ? given : takeLast(given), title);
  return Object.fromEntries(rows.map(([title, name, flag]) => [name, read(flag, args[name], title)])) as Values;
}

/** yargs turns a flag that is given twice into a list. The last value counts instead, of nested flags (`--player1.nodes=5`) too. */
function takeLast(value: unknown): unknown {
  if (Array.isArray(value)) return value.at(-1);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, takeLast(inner)]));
}

function listGiven(args: Readonly<Record<string, unknown>>): GivenFlags {
  const flags = listOptionSpecs().map(({ flag }) => flag);
  return new Map(
    flags.flatMap((flag) => (args[flag] === undefined ? [] : [[flag, String(takeLast(args[flag]))] as const])),
  );
}

/** The same flags, in a section of the help. */
export function inGroup<Flags extends FlagTable>(group: string, flags: Flags): Flags {
  const rows = Object.entries(flags).map(([name, flag]) => [name, { ...flag, options: { ...flag.options, group } }]);
  return Object.fromEntries(rows) as Flags;
}

type More = Pick<Options, 'alias' | 'defaultDescription' | 'hidden' | 'implies' | 'requiresArg'>;

/** What yargs has made of the flag, which is of this type by the flag's options. */
const asRead = <Value>(given: unknown): Value => given as Value;

/** Switched on by `--flag`, off by `--no-flag`; null = undefined unless it is given. */
export function onOff(describe: string, value?: boolean, more?: More): Flag<boolean>;
export function onOff(describe: string, value: null): Flag<boolean | undefined>;
export function onOff(describe: string, value: boolean | null = false, more: More = {}): Flag<boolean | undefined> {
  return {
    options: { type: 'boolean', ...(value === null ? {} : { default: value }), describe, ...more },
    read: asRead,
  };
}

export function text(describe: string, more: More & { readonly default: string }): Flag<string>;
export function text(describe: string, more?: More): Flag<string | undefined>;
export function text(describe: string, more: More = {}): Flag<string | undefined> {
  return { options: { type: 'string', describe, ...more }, read: asRead };
}

export function requiredText(describe: string): Flag<string> {
  return { options: { type: 'string', demandOption: true, describe }, read: asRead };
}

/** May be given several times, each time with one value. */
export function texts(describe: string, more: More = {}): Flag<readonly string[]> {
  const options: Options = { type: 'string', array: true, nargs: 1, default: [], describe, ...more };
  return { options, read: asRead };
}

/** Takes all values that follow. */
export function words(
  describe: string,
  more: More & { readonly default?: readonly string[] } = {},
): Flag<readonly string[]> {
  return { options: { type: 'string', array: true, describe, ...more }, read: (given) => asRead(given ?? []) };
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  value: NoInfer<Choice>,
  describe: string,
): Flag<Choice>;
export function choice<const Choice extends string>(
  choices: readonly Choice[],
  value: null,
  describe: string,
): Flag<Choice | undefined>;
export function choice(choices: readonly string[], value: string | null, describe: string): Flag<string | undefined> {
  return { options: { choices, ...(value === null ? {} : { default: value }), describe }, read: asRead };
}

/** A flag of lc0 that is not taken. */
export function refused(reason: string): Flag<undefined> {
  return {
    options: { describe: `Refused: ${reason}` },
    read: (given, name) => {
      if (given !== undefined) throw new Error(`${name} is not supported: ${reason}`);
    },
  };
}

/** An object of keys: `--player1.nodes=5`; a key may hold keys again. */
export function keys(describe: string): Flag<Readonly<Record<string, unknown>> | undefined> {
  return { options: { describe }, read: (given) => asRead(dropCamelCase(given)) };
}

/** yargs gives `policy-temp` inside an object a second time, as `policyTemp`. */
function dropCamelCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const copies = new Set(
    Object.keys(value).flatMap((name) =>
      name.includes('-') ? [name.replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase())] : [],
    ),
  );
  const rows = Object.entries(value).filter(([name]) => !copies.has(name));
  return Object.fromEntries(rows.map(([name, inner]) => [name, dropCamelCase(inner)]));
}

interface NumberRange extends More {
  readonly min: number;
  /** No bound when left out. */
  readonly max?: number;
  /** Numbers must be above `min`, not equal to it. */
  readonly isMinExcluded?: boolean;
  /** Numbers outside the range with a special meaning. */
  readonly also?: readonly number[];
}

type NumberKind = 'whole number' | 'number';

export function whole(range: NumberRange & { readonly default: number }, describe: string): Flag<number>;
export function whole(range: NumberRange, describe: string): Flag<number | undefined>;
export function whole(range: NumberRange, describe: string): Flag<number | undefined> {
  return declareNumber('whole number', range, describe);
}

export function number(range: NumberRange & { readonly default: number }, describe: string): Flag<number>;
export function number(range: NumberRange, describe: string): Flag<number | undefined>;
export function number(range: NumberRange, describe: string): Flag<number | undefined> {
  return declareNumber('number', range, describe);
}

/** Checks a whole number that is not a flag of its own (`--player1.nodes`); throws one sentence when it is below `min`. */
export function requireWhole(name: string, value: unknown, min: number): number {
  return requireNumber(`--${name}`, value, 'whole number', { min });
}

function declareNumber(
  kind: NumberKind,
  flag: NumberRange & { readonly default?: number },
  describe: string,
): Flag<number | undefined> {
  const { min: _, max: __, isMinExcluded: ___, also: ____, ...options } = flag;
  return {
    options: { ...options, requiresArg: true, describe: `${describe} [${describeRange(kind, flag)}]` },
    read: (given, name) => (given === flag.default ? flag.default : requireNumber(name, given, kind, flag)),
  };
}

function requireNumber(name: string, value: unknown, kind: NumberKind, range: NumberRange): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && isInRange(number, kind, range)) return number;
  throw new Error(`${name} must be a ${describeRange(kind, range)}, not "${value}"`);
}

function isInRange(number: number, kind: NumberKind, range: NumberRange): boolean {
  const { min, max = Number.MAX_VALUE, isMinExcluded = false, also = [] } = range;
  if (also.includes(number)) return true;
  if (kind === 'whole number' && !Number.isSafeInteger(number)) return false;
  return number >= min && number <= max && !(isMinExcluded && number === min);
}

/** "whole number from 1 to 8, or -1" */
function describeRange(kind: NumberKind, { min, max, isMinExcluded = false, also = [] }: NumberRange): string {
  const start = `${kind} ${isMinExcluded ? 'above' : 'from'} ${min}`;
  const end = max === undefined ? '' : isMinExcluded ? `, at most ${max}` : ` to ${max}`;
  return `${start}${end}${also.length === 0 ? '' : `, or ${also.join(' or ')}`}`;
}
