/** What a search tree is: nodes of its own or shared ones, how games end in it, how large it may grow. */
import type { OptionSpec } from '../../options/index.js';

export const treeOptions = {
  search: {
    uci: 'SearchAlgorithm',
    flag: 'search',
    kind: 'choice',
    default: 'tree',
    choices: ['tree', 'graph'],
    help: 'tree = every line has nodes of its own, as in the classic search of lc0; graph = transpositions share a node.',
  },
  twoFoldDraws: {
    uci: 'TwoFoldDraws',
    flag: 'two-fold-draws',
    kind: 'bool',
    default: true,
    help: 'Count a first repetition inside the search tree as a draw.',
  },
  stickyEndgames: {
    uci: 'StickyEndgames',
    flag: 'sticky-endgames',
    kind: 'bool',
    default: true,
    help: 'Spread proven wins, losses and draws up the tree.',
  },
  mateInOne: {
    uci: 'MateInOne',
    flag: 'mate-in-one',
    kind: 'bool',
    default: false,
    hidden: true,
    help: 'Look for a mate in one in every new position before the network is asked; a position with one counts as won.',
  },
  drawScore: {
    uci: 'DrawScore',
    flag: 'draw-score',
    kind: 'float',
    default: 0,
    min: -1,
    max: 1,
    help: 'Value of a draw for White; -1 is Armageddon.',
  },
  cacheHistoryLength: {
    uci: 'CacheHistoryLength',
    flag: 'cache-history-length',
    kind: 'int',
    default: 0,
    min: 0,
    max: 7,
    help: 'Earlier positions that must agree, too, before two lines share a node (graph search).',
  },
  ramLimitMb: {
    uci: 'RamLimitMb',
    flag: 'ramlimit-mb',
    kind: 'int',
    default: 0,
    min: 0,
    max: 100000000,
    help: 'Memory of the search tree in megabytes, evaluation cache and network not counted; at the limit the search forgets its least visited lines. 0 = half of the machine, at most 16000.',
  },
  analyseMode: {
    uci: 'UCI_AnalyseMode',
    flag: '',
    kind: 'bool',
    default: false,
    help: 'Sent by GUIs in analysis: stepping back and forth in a game, earlier trees are kept as long as memory lasts.',
  },
} as const satisfies Record<string, OptionSpec>;
