/**
 * Options of lc0 and of GUIs that we accept and ignore, so that configurations made for other engines load. The help text
 * says why; docs/options.md prints it.
 */
import type { OptionSpec } from '../options/index.js';

const NO_TASKS = 'No effect: one thread walks the tree, without helper tasks.';

function acceptInt(uci: string, flag: string, value: number, min: number, max: number, help: string): OptionSpec {
  return { uci, flag, kind: 'int', default: value, min, max, hidden: true, help };
}

const specs: readonly OptionSpec[] = [
  acceptInt(
    'SyzygyProbeDepth',
    '',
    1,
    1,
    100,
    'No effect: as in lc0, every leaf right after a capture or pawn move is looked up, at any depth.',
  ),
  {
    uci: 'StrictTiming',
    flag: 'strict-uci-timing',
    kind: 'bool',
    default: false,
    hidden: true,
    help: 'No effect: the clock always starts with go.',
  },
  acceptInt('TaskWorkers', 'task-workers', -1, -1, 128, NO_TASKS),
  acceptInt('MinimumProcessingWork', 'minimum-processing-work', 20, 2, 100000, NO_TASKS),
  acceptInt('MinimumPickingWork', 'minimum-picking-work', 1, 1, 100000, NO_TASKS),
  acceptInt('MinimumRemainingPickingWork', 'minimum-remaining-picking-work', 20, 0, 100000, NO_TASKS),
  acceptInt('MinimumPerTaskProcessing', 'minimum-per-task-processing', 8, 1, 100000, NO_TASKS),
  acceptInt('IdlingMinimumWork', 'idling-minimum-work', 0, 0, 10000, NO_TASKS),
  acceptInt('ThreadIdlingThreshold', 'thread-idling-threshold', 1, 0, 128, NO_TASKS),
  acceptInt('MaxConcurrentSearchers', 'max-concurrent-searchers', 1, 0, 128, NO_TASKS),
  {
    uci: 'SearchSpinBackoff',
    flag: 'search-spin-backoff',
    kind: 'bool',
    default: false,
    hidden: true,
    help: NO_TASKS,
  },
  acceptInt(
    'MaxPrefetch',
    'max-prefetch',
    32,
    0,
    1024,
    'No effect: lc0 fills a short batch with positions that it may need later. Sardonyx fills it with other leaves of the tree, and gathers the next batch while this one is evaluated.',
  ),
  acceptInt(
    'SolidTreeThreshold',
    'solid-tree-threshold',
    100,
    1,
    2000000000,
    'No effect: the tree always consists of arrays.',
  ),
  {
    uci: 'GarbageCollectionDelay',
    flag: 'garbage-collection-delay',
    kind: 'float',
    default: 10,
    min: 0,
    max: 100,
    hidden: true,
    help: 'No effect: freed nodes are reused, so there is no garbage to collect.',
  },
];

export const acceptedOptions: readonly OptionSpec[] = specs.map((spec) => ({ ...spec, effect: 'none' }));
