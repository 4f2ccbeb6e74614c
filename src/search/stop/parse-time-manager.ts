/**
 * Parses the option `TimeManager`, for instance `legacy(slowmover=1.2,steepness=6)`. The grammar is the part of lc0's option
 * dictionaries that time managers use: a name, numbers by name, and for `smooth` the sub-dictionary `mle-legacy(…)`. An
 * unknown parameter is an error, as in lc0.
 */
import { failure, type Result, success } from '../../base/util/result.js';

/** Within these ranges no parameter leads to a division by zero or the root of a negative number. */
const POSITIVE = [0.001, 1e9] as const;
const NOT_NEGATIVE = [0, 1e9] as const;
const FRACTION = [0, 1] as const;
const ANY = [-1e9, 1e9] as const;

interface Parameter {
  /** lc0's. */
  readonly default: number;
  readonly range: readonly [min: number, max: number];
}

/** Every time manager and its parameters. */
const MANAGERS = {
  legacy: {
    slowmover: { default: 1.0, range: [0, 100] },
    'midpoint-move': { default: 51.5, range: POSITIVE },
    steepness: { default: 7.0, range: POSITIVE },
    'immediate-use': { default: 1.0, range: ANY },
    'first-move-bonus': { default: 1.8, range: ANY },
    'book-ply-bonus': { default: 0.25, range: ANY },
  },
  smooth: {
    midpoint: { default: 45.2, range: POSITIVE },
    steepness: { default: 5.93, range: POSITIVE },
    'init-tree-reuse': { default: 0.52, range: [0, 0.99] },
    'max-tree-reuse': { default: 0.73, range: [0, 0.99] },
    'tree-reuse-update-rate': { default: 3.39, range: POSITIVE },
    'nps-update-period': { default: 20, range: POSITIVE },
    'init-timeuse': { default: 0.7, range: [0.001, 1] },
    'min-timeuse': { default: 0.34, range: [0.001, 1] },
    'timeuse-update-rate': { default: 5.51, range: POSITIVE },
    'max-move-budget': { default: 0.42, range: FRACTION },
    'init-piggybank': { default: 0.09, range: FRACTION },
    'per-move-piggybank': { default: 0.12, range: FRACTION },
    'max-piggybank-use': { default: 0.94, range: FRACTION },
    'max-piggybank-moves': { default: 36.5, range: NOT_NEGATIVE },
    'trend-nps-update-period-ms': { default: 3000, range: NOT_NEGATIVE },
    'bestmove-optimism': { default: 0.2, range: ANY },
    'overtaker-optimism': { default: 4.0, range: ANY },
    'force-piggybank-ms': { default: 1000, range: NOT_NEGATIVE },
  },
  simple: {
    'base-pct': { default: 1.4, range: [0.001, 100] },
    'ply-pct': { default: 0.049, range: [0, 1] },
    'time-factor': { default: 1.5, range: [0, 100] },
    'opening-bonus-pct': { default: 0, range: [0, 1000] },
  },
  alphazero: { 'alphazero-time-pct': { default: 12, range: [0, 100] } },
} satisfies Record<string, Record<string, Parameter>>;

export type TimeManagerName = keyof typeof MANAGERS;
export type TimeManagerParams = { [Name in TimeManagerName]: Record<keyof (typeof MANAGERS)[Name], number> };

/** A time manager as the user chose it, with all of its parameters. */
export type TimeManagerChoice = {
  [Name in TimeManagerName]: { readonly name: Name; readonly params: TimeManagerParams[Name] };
}[TimeManagerName];

/**
 * @param text the option as the user wrote it
 * @param slowmover the option `Slowmover`: only for `legacy`, and not together with its parameter of that name
 * @returns what {@link createTimeManager} makes a manager of
 */
export function parseTimeManager(text: string, slowmover = 1): Result<TimeManagerChoice> {
  const call = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  const name = call?.[1] ?? '';
  if (!isTimeManagerName(name)) {
    return failure(`TimeManager must be one of ${Object.keys(MANAGERS).join(', ')} with parameters, not "${text}"`);
  }
  const parsed = parseParams(name, call?.[2] ?? '');
  if (!parsed.ok) return parsed;
  const params = parsed.value;
  if (slowmover !== 1) {
    if (name !== 'legacy') return failure(`Slowmover belongs to the time manager legacy, not to ${name}`);
    if ('slowmover' in params) return failure('Set either Slowmover or TimeManager legacy(slowmover=…), not both');
    params.slowmover = slowmover;
  }
  const defaults = Object.entries<Parameter>(MANAGERS[name]).map(([key, known]) => [key, known.default]);
  return success({ name, params: { ...Object.fromEntries(defaults), ...params } } as TimeManagerChoice);
}

function isTimeManagerName(name: string): name is TimeManagerName {
  return Object.hasOwn(MANAGERS, name);
}

function parseParams(name: TimeManagerName, text: string): Result<Record<string, number>> {
  // The names in smooth's only sub-dictionary are unique, so it can be flattened.
  const flat = name === 'smooth' ? text.replace(/\bmle-legacy\s*\(([^()]*)\)/, '$1') : text;
  const known: Record<string, Parameter> = MANAGERS[name];
  const params: Record<string, number> = {};
  for (const part of flat.split(',')) {
    if (part.trim() === '') continue;
    const pair = /^\s*([\w-]+)\s*=\s*"?([^"\s]+)"?\s*$/.exec(part);
    if (pair === null) return failure(`TimeManager parameters are written key=value, not "${part.trim()}"`);
    const [, key, valueText] = pair;
    if (!Object.hasOwn(known, key)) {
      return failure(`Time manager ${name} has no parameter ${key}; it knows ${Object.keys(known).join(', ')}`);
    }
    const value = Number(valueText);
    const [min, max] = known[key].range;
    if (!Number.isFinite(value) || value < min || value > max) {
      return failure(`Parameter ${key} of time manager ${name} must lie between ${min} and ${max}, not ${valueText}`);
    }
    params[key] = value;
  }
  return success(params);
}
