/**
 * How a command declares itself: a table of flags, a row each, from which yargs gets its options, `--help` its text and `run` the type of
 * its arguments: a flag that is not in the table does not compile. A number declares its range there, so commands check nothing again.
 * yargs' type `number` is not used: it turns "abc" into NaN before a message could quote it.
 */
import type { Argv, Options, PositionalOptions } from 'yargs';
import { listOptionSpecs } from '../engine/app/options.js';
import { addEngineFlags, type EngineFlagsHelp, type GivenFlags } from './engine-flags.js';

export interface Flag<Value> {
  readonly options: Options;
  readonly place: Required<FlagPlace>;
  /** Throws one sentence that names the flag. */
  read(given: unknown, name: string): Value;
}

/** Where a flag has an effect, and what else it is called. */
interface FlagPlace {
  /** Flags of the command without which this one has no effect. */
  readonly goesWith?: readonly string[];
  /** Flags of the command which leave this one without effect. */
  readonly notWith?: readonly string[];
  /** Names that the flag had, or has in other programs: taken, but not shown. */
  readonly oldNames?: readonly string[];
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type ValuesOf<Flags> = { readonly [Name in keyof Flags]: Flags[Name] extends Flag<infer Value> ? Value : never };

interface CommandDeclaration<Words extends FlagTable, Flags extends FlagTable> {
  /** As yargs writes them: `perft <depth>`, `encode [fen..]`; other names after the first. */
  readonly command: string | readonly string[];
  readonly describe: string;
  readonly words?: Words;
  readonly flags: Flags;
  /** The command takes the engine's flags as well. */
  readonly engineFlags?: EngineFlagsHelp;
  readonly epilogue?: string;
  run(args: ValuesOf<Words & Flags>, given: GivenFlags): void | Promise<void>;
}

/** Stands for the word `-`, which yargs drops: stdin, in place of a file. */
export const DASH = '<->';

export interface Command {
  /** Its first word, and other names. */
  readonly names: readonly string[];
  /** Names of its words, which stand without dashes. */
  readonly words: readonly string[];
  /** Names of its flags, the engine's where it takes them; without those that its help does not show. */
  readonly flags: readonly string[];
  /** All names of flags that it takes. */
  readonly takenFlags: readonly string[];
  /** Words and flags that it cannot do without: `<file>`, `--out`. */
  readonly required: readonly string[];
  addTo(parser: Argv): void;
}

// biome-ignore lint/complexity/noBannedTypes: no words
export function declareCommand<Flags extends FlagTable, Words extends FlagTable = {}>(
  declaration: CommandDeclaration<Words, Flags>,
): Command {
  const { command, describe, words, flags, engineFlags, epilogue, run } = declaration;
  const build = (yargs: Argv): void => {
    // A command may have a flag of the engine as its own.
    if (engineFlags !== undefined) addEngineFlags(yargs, engineFlags, (flag) => !Object.hasOwn(flags, flag));
    for (const [name, { options }] of Object.entries(words ?? {})) {
      yargs.positional(name, describeDefault(options) as PositionalOptions);
    }
    for (const [name, { options, place }] of Object.entries(flags)) {
      yargs.option(name, describeDefault(options));
      const { alias: _, default: __, demandOption: ___, ...rest } = options;
      for (const old of place.oldNames) yargs.option(old, { ...rest, hidden: true });
    }
    if (epilogue !== undefined) yargs.epilogue(epilogue);
  };
  const lines = [command].flat();
  const shown = Object.entries(flags).filter(([, { options }]) => options.hidden !== true);
  const engineSpecs = engineFlags === undefined ? [] : listOptionSpecs();
  return {
    names: lines.map((name) => name.split(' ')[0]),
    words: Object.keys(words ?? {}),
    flags: [
      ...shown.map(([name]) => name),
      ...engineSpecs.flatMap(({ flag, hidden }) => (hidden ? [] : [flag])),
      'help',
    ],
    takenFlags: [
      ...['help', 'h', 'version', 'show-hidden'],
      ...Object.entries(flags).flatMap(([name, { options, place }]) =>
        [name, options.alias ?? [], place.oldNames].flat(),
      ),
      ...engineSpecs.map(({ flag }) => flag),
    ],
    required: [
      ...[...lines[0].matchAll(/<([\w-]+)/g)].map(([, word]) => `<${word}>`),
      ...shown.flatMap(([name, { options }]) => (options.demandOption === true ? [`--${name}`] : [])),
    ],
    addTo: (parser) => {
      parser.command(lines, describe, build, (args) => run(readValues(args, words, flags), listGiven(args)));
    },
  };
}

/** yargs only shows the default; who gave a flag is known because it sets none. */
function describeDefault({ default: value, ...options }: Options): Options {
  if (value === undefined || value === '' || value === false || isEmptyList(value)) return options;
  return { defaultDescription: String(value), ...options };
}

/** The one place where what yargs read gets its type: the table gives both the names and the types. */
function readValues<Values>(args: Readonly<Record<string, unknown>>, words: FlagTable = {}, flags: FlagTable): Values {
  const rows = [
    ...Object.entries(words).map((row) => [`<${row[0]}>`, ...row] as const),
    ...Object.entries(flags).map((row) => [`--${row[0]}`, ...row] as const),
  ];
  /** Titles by name. */
  const given = new Map<string, string>();
  const read = ({ options, read, place }: Flag<unknown>, title: string, name: string): unknown => {
    const old = place.oldNames.find((other) => isThere(args[other]));
    const written = args[old ?? name];
    if (!isThere(written)) return read(options.default, title);
    const value = read(putDash(options.array === true ? written : takeLast(written)), title);
    // A switch that is switched to where it stands changes nothing.
    if (typeof value !== 'boolean' || value !== (options.default ?? false))
      given.set(name, value === false ? `--no-${name}` : title);
    return value;
  };
  const values = Object.fromEntries(rows.map(([title, name, flag]) => [name, read(flag, title, name)]));
  for (const [name, { place }] of Object.entries(flags)) {
    const title = given.get(name);
    if (title !== undefined) checkPlace(title, place, given);
  }
  return values as Values;
}

/** Throws one sentence when a flag has no effect where it stands. @param given what was given, by name, as the user writes it */
function checkPlace(
  flag: string,
  { goesWith, notWith }: Flag<unknown>['place'],
  given: ReadonlyMap<string, string>,
): void {
  const obstacle = notWith.flatMap((name) => given.get(name) ?? [])[0];
  const missing = goesWith.filter((name) => !given.has(name));
  if (obstacle !== undefined) throw new Error(`${flag} has no effect with ${obstacle}`);
  if (missing.length > 0) throw new Error(`${flag} has no effect without ${joinFlags(missing)}`);
}

function joinFlags(names: readonly string[]): string {
  return names.map((name) => `--${name}`).join(' and ');
}

function putDash(value: unknown): unknown {
  return Array.isArray(value) ? value.map(putDash) : value === DASH ? '-' : value;
}

function isThere(value: unknown): boolean {
  return value !== undefined && !isEmptyList(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
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

/** The same flags, in a section of the help whose title says where they have an effect. */
export function inGroup<Flags extends FlagTable>(
  group: string,
  flags: Flags,
  { goesWith = [], notWith = [] }: FlagPlace = {},
): Flags {
  const rows = Object.entries(flags).map(([name, { options, place, read }]) => {
    const merged = { ...place, goesWith: [...goesWith, ...place.goesWith], notWith: [...notWith, ...place.notWith] };
    return [name, { options: { ...options, group }, place: merged, read }];
  });
  return Object.fromEntries(rows) as Flags;
}

type More = Pick<Options, 'alias' | 'defaultDescription' | 'hidden' | 'requiresArg'> & FlagPlace;

/** A row whose value is what yargs has made of the flag, unless `read` is given; the help says with what the flag goes. */
function declare<Value>(
  { goesWith = [], notWith = [], oldNames = [], ...options }: Options & FlagPlace,
  read: Flag<Value>['read'] = (given) => given as Value,
): Flag<Value> {
  const place = goesWith.length === 0 ? '' : `With ${joinFlags(goesWith)}: `;
  return {
    options: { ...options, describe: `${place}${options.describe}` },
    place: { goesWith, notWith, oldNames },
    read,
  };
}

/** Switched on by `--flag`, off by `--no-flag`; null = undefined unless it is given. */
export function onOff(describe: string, value?: boolean, more?: More): Flag<boolean>;
export function onOff(describe: string, value: null, more?: More): Flag<boolean | undefined>;
export function onOff(describe: string, value: boolean | null = false, more: More = {}): Flag<boolean | undefined> {
  return declare({ type: 'boolean', default: value ?? undefined, describe, ...more });
}

export function text(describe: string, more: More & { readonly default: string }): Flag<string>;
export function text(describe: string, more?: More): Flag<string | undefined>;
export function text(describe: string, more: More = {}): Flag<string | undefined> {
  return declare({ type: 'string', describe, ...more });
}

export function requiredText(describe: string): Flag<string> {
  return declare({ type: 'string', demandOption: true, describe });
}

/** May be given several times, each time with one value. */
export function texts(describe: string, more: More = {}): Flag<readonly string[]> {
  return declare({ type: 'string', array: true, nargs: 1, default: [], describe, ...more });
}

/** Takes all values that follow. */
export function words(
  describe: string,
  more: More & { readonly default?: readonly string[] } = {},
): Flag<readonly string[]> {
  return declare({ type: 'string', array: true, describe, ...more }, (given) => (given ?? []) as readonly string[]);
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  value: NoInfer<Choice>,
  describe: string,
  more?: More,
): Flag<Choice>;
export function choice<const Choice extends string>(
  choices: readonly Choice[],
  value: null,
  describe: string,
): Flag<Choice | undefined>;
export function choice(
  choices: readonly string[],
  value: string | null,
  describe: string,
  more: More = {},
): Flag<string | undefined> {
  return declare({ choices, default: value ?? undefined, describe, ...more });
}

/** A flag of lc0 that is not taken. */
export function refused(reason: string): Flag<undefined> {
  return declare({ describe: `Refused: ${reason}` }, (given, name) => {
    if (given === undefined) return undefined;
    throw new Error(`${name} is not supported: ${reason}`);
  });
}

/** An object of keys: `--player1.nodes=5`; a key may hold keys again. */
export function keys(describe: string): Flag<Readonly<Record<string, unknown>> | undefined> {
  return declare({ describe }, (given) => dropCamelCase(given) as Readonly<Record<string, unknown>> | undefined);
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

/**
 * A limit that may be missing: null for 0 and -1, in every command, and where the flag is not given unless it has a default; undefined
 * tells the two apart.
 */
export function limit(describe: string, more: More & { readonly default: number | null }): Flag<number | null>;
export function limit(describe: string, more?: More): Flag<number | null | undefined>;
export function limit(
  describe: string,
  more: More & { readonly default?: number | null } = {},
): Flag<number | null | undefined> {
  const { default: value, ...rest } = more;
  const text = `${describe} [whole number from 1; 0 or -1 = no limit]`;
  return declare({ ...rest, default: value ?? undefined, requiresArg: true, describe: text }, (given, name) => {
    if (given === undefined) return value;
    const number = requireNumber(name, given, 'whole number', { min: 1, also: [0, -1] });
    return number > 0 ? number : null;
  });
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
  const text = `${describe} [${describeRange(kind, flag)}]`;
  return declare({ ...options, requiresArg: true, describe: text }, (given, name) =>
    given === flag.default ? flag.default : requireNumber(name, given, kind, flag),
  );
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
