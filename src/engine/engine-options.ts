/**
 * Options that belong to the engine as a whole: clock, display, files. Search and network declare their own. The aliases
 * are names that GUIs and lichess-bot send and that lc0 lacks.
 */
import type { OptionAlias, OptionCheck, OptionSpec } from '../options/index.js';
import { parseContempt, parseTimeManager } from '../search/options.js';
import { failure, type Result, success } from '../util/index.js';
import { SCORE_TYPES } from './score.js';
import { FULL_SKILL, STRONGEST_ELO, WEAKEST_ELO } from './strength.js';

const MAX_MS = 100000000;

export const engineOptions: readonly OptionSpec[] = [
  {
    uci: 'LogFile',
    effect: 'log',
    flag: 'logfile',
    alias: 'l',
    kind: 'string',
    default: '',
    help: 'Write a log of the conversation to this file; <stderr> for standard error.',
  },
  {
    uci: 'ConfigFile',
    effect: 'none',
    flag: 'config',
    alias: 'c',
    kind: 'string',
    default: 'lc0.config',
    help: 'File with one --flag=value a line, instead of lc0.config and sardonyx.config; empty = none.',
  },
  {
    uci: 'Ponder',
    effect: 'none',
    flag: '',
    kind: 'bool',
    default: false,
    help: 'Set by the GUI: it may ask to think in the opponent’s time.',
  },
  {
    uci: 'SyzygyPath',
    effect: 'tables',
    flag: 'syzygy-paths',
    alias: 's',
    kind: 'string',
    default: '',
    help: 'Folders of Syzygy tablebases (.rtbw and .rtbz files), separated by ; or, but for Windows, by :',
  },
  {
    uci: 'SyzygyProbeLimit',
    effect: 'tables',
    flag: '',
    kind: 'int',
    default: 7,
    min: 0,
    max: 7,
    help: 'Positions of more men are not looked up in tablebases.',
  },
  {
    uci: 'Syzygy50MoveRule',
    effect: 'tables',
    flag: '',
    kind: 'bool',
    default: true,
    help: 'The fifty-move rule counts: a tablebase win that it spoils is a draw. Off: a win is a win.',
  },
  {
    uci: 'MoveOverheadMs',
    flag: 'move-overhead',
    kind: 'int',
    default: 200,
    min: 0,
    max: MAX_MS,
    help: 'Milliseconds kept back for connection and GUI; at most a tenth of a short clock.',
  },
  {
    uci: 'TimeManager',
    flag: 'time-manager',
    kind: 'string',
    default: 'legacy',
    help: 'legacy, smooth, simple or alphazero, with parameters: legacy(slowmover=1.2,steepness=6).',
  },
  {
    uci: 'Slowmover',
    flag: 'slowmover',
    kind: 'float',
    default: 1,
    min: 0,
    max: 100,
    help: 'Factor of the time for a move (time manager legacy).',
  },
  {
    uci: 'PolicyTemperature',
    effect: 'evaluator',
    flag: 'policy-softmax-temp',
    kind: 'float',
    default: 1.359,
    min: 0.1,
    max: 10,
    help: 'Temperature of the policy softmax: higher makes the priors more equal.',
  },
  {
    uci: 'HistoryFill',
    effect: 'evaluator',
    flag: 'history-fill',
    kind: 'choice',
    default: 'fen_only',
    choices: ['no', 'fen_only', 'always'],
    help: 'What the network sees where a position has no history: nothing, or the oldest position again.',
  },
  {
    uci: 'UCI_LimitStrength',
    flag: 'limit-strength',
    kind: 'bool',
    default: false,
    help: 'Play no better than UCI_Elo. Analysis (go infinite, UCI_AnalyseMode) stays at full strength.',
  },
  {
    uci: 'UCI_Elo',
    flag: 'elo',
    kind: 'int',
    default: WEAKEST_ELO,
    min: WEAKEST_ELO,
    max: STRONGEST_ELO,
    help: 'Strength with UCI_LimitStrength, on the scale of Stockfish; the range is what was measured.',
  },
  {
    uci: 'Skill Level',
    flag: 'skill-level',
    kind: 'int',
    default: FULL_SKILL,
    min: 0,
    max: FULL_SKILL,
    help: 'Steps from the weakest UCI_Elo (0) to full strength (20); UCI_LimitStrength overrules it.',
  },
  {
    uci: 'UCI_Chess960',
    flag: 'chess960',
    kind: 'bool',
    default: false,
    help: 'Chess960: castling is written king takes rook.',
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
    uci: 'ScoreType',
    effect: 'display',
    flag: 'score-type',
    kind: 'choice',
    default: 'WDL_mu',
    choices: SCORE_TYPES,
    help: 'What the score in info lines means.',
  },
  {
    uci: 'VerboseMoveStatsFormat',
    effect: 'display',
    flag: 'verbose-move-stats-format',
    kind: 'choice',
    default: 'current',
    choices: ['current', 'classic'],
    hidden: true,
    help: 'Lines of VerboseMoveStats as lc0 prints them today or as it did until 2020 (Q+U).',
  },
  {
    uci: 'MateSearch',
    flag: 'mate-search',
    kind: 'bool',
    default: true,
    help: 'Look for short mates beside the search, and for shorter ones than it has proven.',
  },
  {
    uci: 'ClearTree',
    effect: 'forgetTree',
    flag: '',
    kind: 'button',
    help: 'Forget the search tree, keep the evaluation cache.',
  },
  {
    uci: 'Clear Hash',
    effect: 'forgetAll',
    flag: '',
    kind: 'button',
    help: 'Forget the search tree and the evaluation cache.',
  },
];

export const engineAliases: readonly OptionAlias[] = [
  {
    spec: {
      uci: 'Move Overhead',
      flag: '',
      kind: 'int',
      default: 200,
      min: 0,
      max: MAX_MS,
      help: 'Another name of MoveOverheadMs.',
    },
    target: 'MoveOverheadMs',
  },
];

export const engineChecks: Readonly<Record<string, OptionCheck>> = {
  Contempt: checkContempt,
  TimeManager: (text, values) => parseTimeManager(text, Number(values.get('Slowmover') ?? 1)),
  Slowmover: (text, values) => parseTimeManager(String(values.get('TimeManager') ?? 'legacy'), Number(text)),
};

/** The search takes what it cannot read for the default. */
function checkContempt(text: string): Result<true> {
  const unreadable = text.split(',').find((entry) => parseContempt(entry) === null);
  if (unreadable === undefined) return success(true);
  return failure(`Option Contempt is a list of numbers and name=number, which "${unreadable.trim()}" is not`);
}
