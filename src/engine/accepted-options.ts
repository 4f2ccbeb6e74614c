/**
 * Options of lc0 and of GUIs that we accept and ignore, so that configurations made for other engines load. One row each: name, flag,
 * default, range, and the reason, which `--help` and docs/options.md print behind "No effect".
 */
import type { OptionSpec } from '../options/index.js';

const NO_TASKS = 'one thread walks the tree, without helper tasks.';
const PREFETCH =
  'lc0 fills a short batch with positions that it may need later. Sardonyx fills it with other leaves of the tree, and gathers the next batch while this one is evaluated.';

const int = (value: number, min: number, max: number) => ({ kind: 'int', default: value, min, max }) as const;
const float = (value: number, min: number, max: number) => ({ kind: 'float', default: value, min, max }) as const;
const NO = { kind: 'bool', default: false } as const;

// biome-ignore format: a row an option
const ROWS = [
  ['SyzygyProbeDepth', '', int(1, 1, 100), 'as in lc0, every leaf right after a capture or pawn move is looked up, at any depth.'],
  ['StrictTiming', 'strict-uci-timing', NO, 'the clock always starts with go.'],
  ['TaskWorkers', 'task-workers', int(-1, -1, 128), NO_TASKS],
  ['MinimumProcessingWork', 'minimum-processing-work', int(20, 2, 100000), NO_TASKS],
  ['MinimumPickingWork', 'minimum-picking-work', int(1, 1, 100000), NO_TASKS],
  ['MinimumRemainingPickingWork', 'minimum-remaining-picking-work', int(20, 0, 100000), NO_TASKS],
  ['MinimumPerTaskProcessing', 'minimum-per-task-processing', int(8, 1, 100000), NO_TASKS],
  ['IdlingMinimumWork', 'idling-minimum-work', int(0, 0, 10000), NO_TASKS],
  ['ThreadIdlingThreshold', 'thread-idling-threshold', int(1, 0, 128), NO_TASKS],
  ['MaxConcurrentSearchers', 'max-concurrent-searchers', int(1, 0, 128), NO_TASKS],
  ['SearchSpinBackoff', 'search-spin-backoff', NO, NO_TASKS],
  ['MaxPrefetch', 'max-prefetch', int(32, 0, 1024), PREFETCH],
  ['SolidTreeThreshold', 'solid-tree-threshold', int(100, 1, 2000000000), 'the tree always consists of arrays.'],
  ['GarbageCollectionDelay', 'garbage-collection-delay', float(10, 0, 100), 'freed nodes are reused, so there is no garbage to collect.'],
] as const;

export const acceptedOptions: readonly OptionSpec[] = ROWS.map(([uci, flag, value, reason]) => ({
  ...{ uci, flag, ...value, help: `No effect: ${reason}` },
  ...{ hidden: true, effect: 'none', isIgnored: true },
}));
