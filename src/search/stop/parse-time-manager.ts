/**
 * Parses the option `TimeManager`, for instance `legacy(slowmover=1.2,steepness=6)`. The grammar is the part of lc0's option
 * dictionaries that time managers use: a name, numbers by name, and for `smooth` the sub-dictionary `mle-legacy(…)`. An
 * unknown parameter is an error, as in lc0.
 */
import { failure, type Result, success } from '../../base/util/result.js';

/** Every time manager and its parameters, with lc0's defaults. */
const DEFAULTS = {
  legacy: {
    slowmover: 1.0,
    'midpoint-move': 51.5,
    steepness: 7.0,
    'immediate-use': 1.0,
    'first-move-bonus': 1.8,
    'book-ply-bonus': 0.25,
  },
  smooth: {
    midpoint: 45.2,
    steepness: 5.93,
    'init-tree-reuse': 0.52,
    'max-tree-reuse': 0.73,
    'tree-reuse-update-rate': 3.39,
    'nps-update-period': 20,
    'init-timeuse': 0.7,
    'min-timeuse': 0.34,
    'timeuse-update-rate': 5.51,
    'max-move-budget': 0.42,
    'init-piggybank': 0.09,
    'per-move-piggybank': 0.12,
    'max-piggybank-use': 0.94,
    'max-piggybank-moves': 36.5,
    'trend-nps-update-period-ms': 3000,
    'bestmove-optimism': 0.2,
    'overtaker-optimism': 4.0,
    'force-piggybank-ms': 1000,
  },
  simple: { 'base-pct': 1.4, 'ply-pct': 0.049, 'time-factor': 1.5, 'opening-bonus-pct': 0 },
  alphazero: { 'alphazero-time-pct': 12 },
};

export type TimeManagerName = keyof typeof DEFAULTS;
export type TimeManagerParams = typeof DEFAULTS;

/** A time manager as the user chose it, with all of its parameters. */
export type TimeManagerChoice = {
  [Name in TimeManagerName]: { readonly name: Name; readonly params: TimeManagerParams[Name] };
}[TimeManagerName];

/** Within these ranges no parameter leads to a division by zero or the root of a negative number. */
const POSITIVE = [0.001, 1e9] as const;
const FRACTION = [0, 1] as const;

const RANGES: Record<TimeManagerName, Record<string, readonly [min: number, max: number]>> = {
  legacy: { slowmover: [0, 100], 'midpoint-move': POSITIVE, steepness: POSITIVE },
  smooth: {
    midpoint: POSITIVE,
    steepness: POSITIVE,
    'init-tree-reuse': [0, 0.99],
    'max-tree-reuse': [0, 0.99],
    'tree-reuse-update-rate': POSITIVE,
    'nps-update-period': POSITIVE,
    'init-timeuse': [0.001, 1],
    'min-timeuse': [0.001, 1],
    'timeuse-update-rate': POSITIVE,
    'max-move-budget': FRACTION,
    'init-piggybank': FRACTION,
    'per-move-piggybank': FRACTION,
    'max-piggybank-use': FRACTION,
  },
  simple: { 'base-pct': [0.001, 100], 'ply-pct': [0, 1], 'time-factor': [0, 100], 'opening-bonus-pct': [0, 1000] },
  alphazero: { 'alphazero-time-pct': [0, 100] },
};

/**
 * @param text the option as the user wrote it
 * @param slowmover the option `Slowmover`: only for `legacy`, and not together with its parameter of that name
 * @returns what {@link createTimeManager} makes a manager of
 */
export function parseTimeManager(text: string, slowmover = 1): Result<TimeManagerChoice> {
  const call = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  const name = call?.[1] ?? '';
  if (!isTimeManagerName(name)) {
    return failure(`TimeManager must be one of ${Object.keys(DEFAULTS).join(', ')} with parameters, not "${text}"`);
  }
  const parsed = parseParams(name, call?.[2] ?? '');
  if (!parsed.ok) return parsed;
  const params = parsed.value;
  if (slowmover !== 1) {
    if (name !== 'legacy') return failure(`Slowmover belongs to the time manager legacy, not to ${name}`);
    if ('slowmover' in params) return failure('Set either Slowmover or TimeManager legacy(slowmover=…), not both');
    params.slowmover = slowmover;
  }
  return success({ name, params: { ...DEFAULTS[name], ...params } } as TimeManagerChoice);
}

function isTimeManagerName(name: string): name is TimeManagerName {
  return Object.hasOwn(DEFAULTS, name);
}

function parseParams(name: TimeManagerName, text: string): Result<Record<string, number>> {
  // The names in smooth's only sub-dictionary are unique, so it can be flattened.
  const flat = name === 'smooth' ? text.replace(/\bmle-legacy\s*\(([^()]*)\)/, '$1') : text;
  const params: Record<string, number> = {};
  for (const part of flat.split(',')) {
    if (part.trim() === '') continue;
    const pair = /^\s*([\w-]+)\s*=\s*"?([^"\s]+)"?\s*$/.exec(part);
    if (pair === null) return failure(`TimeManager parameters are written key=value, not "${part.trim()}"`);
    const [, key, valueText] = pair;
    if (!Object.hasOwn(DEFAULTS[name], key)) {
      return failure(
        `Time manager ${name} has no parameter ${key}; it knows ${Object.keys(DEFAULTS[name]).join(', ')}`,
      );
    }
    const value = Number(valueText);
    const [min, max] = RANGES[name][key] ?? [-1e9, 1e9];
    if (!Number.isFinite(value) || value < min || value > max) {
      return failure(`Parameter ${key} of time manager ${name} must lie between ${min} and ${max}, not ${valueText}`);
    }
    params[key] = value;
  }
  return success(params);
}
