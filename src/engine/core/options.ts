/**
 * Options of the engine as a whole (clock, tablebases, strength, reports), and those of lc0 and of GUIs that we accept and ignore.
 * Search, network and conversation declare their own. The second, light door of core/: it loads no code that plays.
 */
import {
  BUTTON,
  bool,
  float,
  freeText,
  HIDDEN,
  int,
  type OptionSpec,
  oneOf,
  option,
  plainText,
} from '../../base/options/index.js';
import { parseTimeManager, SCORE_TYPES } from '../../search/options.js';
import { FULL_SKILL, STRONGEST_ELO, WEAKEST_ELO } from './strength.js';

export { isStrengthLimited, STRONGEST_ELO, WEAKEST_ELO } from './strength.js';
export { LEVELS_NETWORK } from './strength-levels.js';

const MAX_MS = 1e8;

// biome-ignore format: a row an option
export const engineOptions: readonly OptionSpec[] = [
  option('Ponder', '', bool(false), 'Set by the GUI if it may let the engine think in the opponent’s time.', { effect: 'ignored' }),
  option('SyzygyPath', 'syzygy-paths', freeText(''), 'Folders of Syzygy tablebases (.rtbw and .rtbz files), separated by ; or, except on Windows, by :', { effect: 'tables', alias: 's' }),
  option('SyzygyProbeLimit', '', int(7, 0, 7), 'Do not probe tablebases for positions with more pieces than this.', { effect: 'tables' }),
  option('Syzygy50MoveRule', '', bool(true), 'Count a tablebase win that the fifty-move rule spoils as a draw; off = as a win.', { effect: 'tables' }),
  option('SyzygyFastPlay', 'syzygy-fast-play', bool(false), 'In a won tablebase position play only moves with the shortest distance to a capture or pawn move.'),
  option('MoveOverheadMs', 'move-overhead', int(200, 0, MAX_MS), 'Milliseconds reserved for each move, for delays of connection and GUI; at most a tenth of the longest clock of the game, a fifth without increment.', { otherNames: ['Move Overhead'] }),
  option('TimeManager', 'time-manager', plainText('legacy'), 'legacy, smooth, simple or alphazero, with parameters: legacy(slowmover=1.2,steepness=6).', { check: (value, values) => parseTimeManager(String(value), Number(values.get('Slowmover') ?? 1)) }),
  option('Slowmover', 'slowmover', float(1, 0, 100), 'Factor of the time for a move (time manager legacy).', { check: (value, values) => parseTimeManager(String(values.get('TimeManager') ?? 'legacy'), Number(value)) }),
  option('UCI_LimitStrength', 'limit-strength', bool(false), 'Play no better than UCI_Elo. Analysis (go infinite, UCI_AnalyseMode) stays at full strength.', { effect: 'strength' }),
  option('UCI_Elo', 'elo', { ...int(WEAKEST_ELO, WEAKEST_ELO, STRONGEST_ELO), clamps: true }, 'Strength with UCI_LimitStrength, on Stockfish’s scale; the range is the one that was measured.'),
  option('Skill Level', 'skill-level', int(FULL_SKILL, 0, FULL_SKILL), 'Level from the weakest UCI_Elo (0) to full strength (20); UCI_LimitStrength overrides it.', { effect: 'strength' }),
  option('UCI_Chess960', 'chess960', bool(false), 'Play Chess960 and write castling as king takes rook.'),
  option('ScoreType', 'score-type', oneOf('WDL_mu', SCORE_TYPES), 'Kind of score in info lines.', { effect: 'display' }),
  option('MultiPV', 'multipv', int(1, 1, 500), 'Number of lines to show.'),
  option('VerboseMoveStats', 'verbose-move-stats', bool(false), 'Print statistics of every root move after the search.', { alias: 'v' }),
  option('LogLiveStats', 'log-live-stats', bool(false), 'Print the statistics of VerboseMoveStats with every info line; without VerboseMoveStats, to the log only.', HIDDEN),
  option('InfoIntervalMs', 'info-interval', int(5000, 50, MAX_MS), 'Longest time between two info lines of a search, in milliseconds.', HIDDEN),
  option('MateSearch', 'mate-search', bool(true), 'A thread beside the search looks for short mates and mates by checks, and for shorter ones than the search has proven; with `go mate` always.'),
  option('ClearTree', '', BUTTON, 'Forget the search tree, keep the evaluation cache.', { effect: 'forgetTree' }),
  option('Clear Hash', '', BUTTON, 'Forget the search tree and the evaluation cache.', { effect: 'forgetAll' }),
];

const NO_TASKS = 'one thread walks the tree, without helper tasks.';

/** @param reason `--help` and docs/options.md print it behind "No effect" */
const ignored = (uci: string, flag: string, kind: Parameters<typeof option>[2], reason: string): OptionSpec =>
  option(uci, flag, kind, `No effect: ${reason}`, { ...HIDDEN, effect: 'ignored' });

// biome-ignore format: a row an option
export const acceptedOptions: readonly OptionSpec[] = [
  ignored('SyzygyProbeDepth', '', int(1, 1, 100), 'as in lc0, every leaf right after a capture or pawn move is looked up, at any depth.'),
  ignored('StrictTiming', 'strict-uci-timing', bool(false), 'the clock always starts with go.'),
  ignored('TaskWorkers', 'task-workers', int(-1, -1, 128), NO_TASKS),
  ignored('MinimumProcessingWork', 'minimum-processing-work', int(20, 2, 100000), NO_TASKS),
  ignored('MinimumPickingWork', 'minimum-picking-work', int(1, 1, 100000), NO_TASKS),
  ignored('MinimumRemainingPickingWork', 'minimum-remaining-picking-work', int(20, 0, 100000), NO_TASKS),
  ignored('MinimumPerTaskProcessing', 'minimum-per-task-processing', int(8, 1, 100000), NO_TASKS),
  ignored('IdlingMinimumWork', 'idling-minimum-work', int(0, 0, 10000), NO_TASKS),
  ignored('ThreadIdlingThreshold', 'thread-idling-threshold', int(1, 0, 128), NO_TASKS),
  ignored('MaxConcurrentSearchers', 'max-concurrent-searchers', int(1, 0, 128), NO_TASKS),
  ignored('SearchSpinBackoff', 'search-spin-backoff', bool(false), NO_TASKS),
  ignored('GarbageCollectionDelay', 'garbage-collection-delay', float(10, 0, 100), 'freed nodes are reused, so there is no garbage to collect.'),
];
