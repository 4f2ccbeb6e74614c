/**
 * Numbers of the command line. A flag declares its range once: the help shows it, and the parser checks it, so commands
 * need no checks of their own. The flags do not use yargs' type `number`, which turns "abc" into NaN before an error
 * message could quote it.
 */
import type { Options } from 'yargs';

interface NumberRange {
  readonly min: number;
  /** No bound when left out. */
  readonly max?: number;
  /** Numbers must be above `min`, not equal to it. */
  readonly isMinExcluded?: boolean;
  /** Numbers outside the range with a special meaning. */
  readonly also?: readonly number[];
}

type NumberKind = 'whole number' | 'number';
type NumberFlag = NumberRange &
  Pick<Options, 'alias' | 'default' | 'defaultDescription' | 'hidden'> & { readonly describe: string };

/** Arguments of yargs' `option`. */
export function wholeFlag(name: string, flag: NumberFlag): [string, Options] {
  return declareFlag('whole number', name, flag);
}

/** Arguments of yargs' `option`. */
export function numberFlag(name: string, flag: NumberFlag): [string, Options] {
  return declareFlag('number', name, flag);
}

/** Checks a whole number that is not a flag of its own (`--player1.nodes`); throws one sentence when it is below `min`. */
export function requireWhole(name: string, value: unknown, min: number): number {
  return requireNumber(name, value, 'whole number', { min });
}

function declareFlag(kind: NumberKind, name: string, flag: NumberFlag): [string, Options] {
  const { min, max, isMinExcluded, also, describe, ...options } = flag;
  const check = (given: unknown): unknown =>
    given === flag.default ? given : requireNumber(name, takeLast(given), kind, flag);
  return [
    name,
    { ...options, requiresArg: true, describe: `${describe} [${describeRange(kind, flag)}]`, coerce: check },
  ];
}

/** If a flag is given twice, the last value counts, as with the engine's flags. */
function takeLast(given: unknown): unknown {
  return Array.isArray(given) ? given.at(-1) : given;
}

function requireNumber(name: string, value: unknown, kind: NumberKind, range: NumberRange): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && isInRange(number, kind, range)) return number;
  throw new Error(`--${name} must be a ${describeRange(kind, range)}, not "${value}"`);
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
