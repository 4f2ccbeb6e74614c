/**
 * Options of the UCI conversation (what info lines show, and the log), and the answer to `uci`. Floats are `type string` with
 * six decimals there, as lc0 prints them.
 */
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

/** The answer to `uci`, `uciok` included. @param specs with the values in force as defaults: GUIs send them back */
export function formatIdentity(version: string, specs: readonly OptionSpec[], showHidden: boolean): string[] {
  const listed = specs.filter((spec) => showHidden || spec.hidden !== true);
  return [`id name Sardonyx ${version}`, 'id author the Sardonyx authors', ...listed.map(formatOption), 'uciok'];
}

export function formatOption(spec: OptionSpec): string {
  const head = `option name ${spec.uci} type`;
  switch (spec.kind) {
    case 'int':
      return `${head} spin default ${spec.default} min ${spec.min} max ${spec.max}`;
    case 'float':
      return `${head} string default ${formatFloat(spec.default)}`;
    case 'bool':
      return `${head} check default ${spec.default}`;
    case 'choice':
      return `${head} combo default ${spec.default}${spec.choices.map((choice) => ` var ${choice}`).join('')}`;
    case 'string':
      return `${head} string default ${spec.default}`;
    case 'button':
      return `${head} button`;
  }
}

/** Six decimals, or more if a client that sends the text back would change the value. */
function formatFloat(value: number): string {
  const text = value.toFixed(6);
  return Number(text) === value ? text : String(value);
}
