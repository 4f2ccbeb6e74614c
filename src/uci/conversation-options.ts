/** Options of the UCI conversation: what info lines show, and the log. */
import type { OptionSpec } from '../options/index.js';

export const conversationOptions: readonly OptionSpec[] = [
  {
    uci: 'LogFile',
    otherNames: ['Debug Log File'],
    effect: 'log',
    flag: 'logfile',
    alias: 'l',
    kind: 'string',
    default: '',
    help: 'Write a log of the conversation to this file; <stderr> for standard error.',
  },
  {
    uci: 'UCI_ShowWDL',
    effect: 'display',
    flag: 'show-wdl',
    kind: 'bool',
    default: false,
    help: 'Show win, draw and loss in per mille.',
  },
  {
    uci: 'UCI_ShowMovesLeft',
    effect: 'display',
    flag: 'show-movesleft',
    kind: 'bool',
    default: false,
    help: 'Show the expected number of moves left.',
  },
  {
    uci: 'UCI_ShowEPS',
    effect: 'display',
    flag: 'show-eps',
    kind: 'bool',
    default: false,
    help: 'Show network evaluations a second.',
  },
  {
    uci: 'PerPVCounters',
    effect: 'display',
    flag: 'per-pv-counters',
    kind: 'bool',
    default: false,
    help: 'Show the nodes of each line instead of the total.',
  },
  {
    uci: 'VerboseMoveStatsFormat',
    effect: 'display',
    flag: 'verbose-move-stats-format',
    kind: 'choice',
    default: 'current',
    choices: ['current', 'classic'],
    hidden: true,
    help: 'Format of the VerboseMoveStats lines: current = as lc0 prints them today, classic = as until 2020 (with Q+U).',
  },
];
