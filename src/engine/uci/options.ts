/**
 * Options of the UCI conversation (what info lines show, and the log), and the answer to `uci`. Floats are `type string` with six
 * decimals there, as lc0 prints them. The second, light door of uci/: it loads no code that plays.
 */
import { bool, freeText, HIDDEN, type OptionSpec, oneOf, option } from '../../base/options/index.js';

// biome-ignore format: a row an option
export const conversationOptions: readonly OptionSpec[] = [
  option('LogFile', 'logfile', freeText(''), 'Write a log of the conversation to this file; <stderr> for standard error.', { otherNames: ['Debug Log File'], effect: 'log', alias: 'l' }),
  option('UCI_ShowWDL', 'show-wdl', bool(false), 'Show win, draw and loss in per mille.', { effect: 'display' }),
  option('UCI_ShowMovesLeft', 'show-movesleft', bool(false), 'Show the expected number of moves left.', { effect: 'display' }),
  option('UCI_ShowEPS', 'show-eps', bool(false), 'Show network evaluations a second.', { effect: 'display' }),
  option('PerPVCounters', 'per-pv-counters', bool(false), 'Show the nodes of each line instead of the total.', { effect: 'display' }),
  option('VerboseMoveStatsFormat', 'verbose-move-stats-format', oneOf('current', ['current', 'classic']), 'Format of the VerboseMoveStats lines: current = as lc0 prints them today, classic = as until 2020 (with Q+U).', { ...HIDDEN, effect: 'display' }),
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
