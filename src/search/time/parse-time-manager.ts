/**
 * Parses the option `TimeManager`, for instance `legacy(slowmover=1.2,steepness=6)`. The grammar is the part of lc0's option
 * dictionaries that time managers use: a name, numbers by name, and for `smooth` the sub-dictionary `mle-legacy(…)`. An
 * unknown parameter is an error, as in lc0.
 */
import { failure, type Result, success } from '../../util/index.js';
import { ClockGuard } from './clock-guard.js';
import { LEGACY_DEFAULTS, LegacyTimeManager } from './legacy.js';
import { ALPHAZERO_DEFAULTS, AlphazeroTimeManager, SIMPLE_DEFAULTS, SimpleTimeManager } from './simple.js';
import { SMOOTH_DEFAULTS, SmoothTimeManager } from './smooth.js';
import type { TimeManager } from './time-manager.js';

interface Kind {
  readonly defaults: Record<string, number>;
  readonly ranges: Record<string, readonly [min: number, max: number]>;
  create(params: Record<string, number>): TimeManager;
}

/** Within these ranges no parameter leads to a division by zero or the root of a negative number. */
const POSITIVE = [0.001, 1e9] as const;
const FRACTION = [0, 1] as const;

const KINDS: Record<string, Kind> = {
  legacy: {
    defaults: LEGACY_DEFAULTS,
    ranges: { slowmover: [0, 100], 'midpoint-move': POSITIVE, steepness: POSITIVE },
    create: (params) => new LegacyTimeManager({ ...LEGACY_DEFAULTS, ...params }),
  },
  smooth: {
    defaults: SMOOTH_DEFAULTS,
    ranges: {
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
    create: (params) => new SmoothTimeManager({ ...SMOOTH_DEFAULTS, ...params }),
  },
  simple: {
    defaults: SIMPLE_DEFAULTS,
    ranges: { 'base-pct': [0.001, 100], 'ply-pct': [0, 1], 'time-factor': [0, 100], 'opening-bonus-pct': [0, 1000] },
    create: (params) => new SimpleTimeManager({ ...SIMPLE_DEFAULTS, ...params }),
  },
  alphazero: {
    defaults: ALPHAZERO_DEFAULTS,
    ranges: { 'alphazero-time-pct': [0, 100] },
    create: (params) => new AlphazeroTimeManager({ ...ALPHAZERO_DEFAULTS, ...params }),
  },
};

/**
 * @param text the option as the user wrote it
 * @param slowmover the option `Slowmover`: only for `legacy`, and not together with its parameter of that name
 * @returns a function that makes a manager, wrapped in a ClockGuard; call it once a game
 */
export function parseTimeManager(text: string, slowmover = 1): Result<() => TimeManager> {
  const call = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  const name = call?.[1] ?? '';
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined) {
    return failure(`TimeManager must be one of ${Object.keys(KINDS).join(', ')} with parameters, not "${text}"`);
  }
  const parsed = parseParams(name, kind, call?.[2] ?? '');
  if (!parsed.ok) return parsed;
  const params = parsed.value;
  if (slowmover !== 1) {
    if (name !== 'legacy') return failure(`Slowmover belongs to the time manager legacy, not to ${name}`);
    if ('slowmover' in params) return failure('Set either Slowmover or TimeManager legacy(slowmover=…), not both');
    params.slowmover = slowmover;
  }
  return success(() => new ClockGuard(kind.create(params)));
}

function parseParams(name: string, kind: Kind, text: string): Result<Record<string, number>> {
  // The names in smooth's only sub-dictionary are unique, so it can be flattened.
  const flat = name === 'smooth' ? text.replace(/\bmle-legacy\s*\(([^()]*)\)/, '$1') : text;
  const params: Record<string, number> = {};
  for (const part of flat.split(',')) {
    if (part.trim() === '') continue;
    const pair = /^\s*([\w-]+)\s*=\s*"?([^"\s]+)"?\s*$/.exec(part);
    if (pair === null) return failure(`TimeManager parameters are written key=value, not "${part.trim()}"`);
    const [, key, valueText] = pair;
    if (!Object.hasOwn(kind.defaults, key)) {
      return failure(`Time manager ${name} has no parameter ${key}; it knows ${Object.keys(kind.defaults).join(', ')}`);
    }
    const value = Number(valueText);
    const [min, max] = kind.ranges[key] ?? [-1e9, 1e9];
    if (!Number.isFinite(value) || value < min || value > max) {
      return failure(`Parameter ${key} of time manager ${name} must lie between ${min} and ${max}, not ${valueText}`);
    }
    params[key] = value;
  }
  return success(params);
}
