/** When a search stops before its limits. */
import type { OptionSpec } from '../../options/index.js';

export const stoppingOptions = {
  smartPruningFactor: {
    uci: 'SmartPruningFactor',
    flag: 'smart-pruning-factor',
    kind: 'float',
    default: 1.33,
    min: 0,
    max: 10,
    help: 'Stop when no other move can overtake the best in the time left divided by this; 0 = never. Searches without a clock stop early only where all is settled.',
  },
  smartPruningMinimumBatches: {
    uci: 'SmartPruningMinimumBatches',
    flag: 'smart-pruning-minimum-batches',
    kind: 'int',
    default: 0,
    min: 0,
    max: 10000,
    help: 'Batches to evaluate before smart pruning may stop the search.',
  },
  minimumKldGainPerNode: {
    uci: 'MinimumKLDGainPerNode',
    flag: 'minimum-kldgain-per-node',
    kind: 'float',
    default: 0,
    min: 0,
    max: 1,
    hidden: true,
    help: 'Stop when the visit distribution changes less than this per node; 0 = never.',
  },
  kldGainAverageInterval: {
    uci: 'KLDGainAverageInterval',
    flag: 'kldgain-average-interval',
    kind: 'int',
    default: 100,
    min: 1,
    max: 10000000,
    hidden: true,
    help: 'Nodes between two computations of the KLD gain.',
  },
  nodesAsPlayouts: {
    uci: 'NodesAsPlayouts',
    flag: 'nodes-as-playouts',
    kind: 'bool',
    default: false,
    hidden: true,
    help: 'Let `go nodes` count new playouts instead of visits.',
  },
} as const satisfies Record<string, OptionSpec>;
