/**
 * Options of evaluation, with lc0's names and defaults, and `Hash`, which every GUI knows. This is the second, light door of
 * nn/: it loads no code that evaluates.
 */
import { float, freeText, int, type OptionSpec, oneOf, option } from '../../base/options/index.js';
import { BACKENDS, LC0_BACKENDS } from './backend/backend-names.js';
import { checkBackendOptions } from './backend/backend-options.js';

export const DEFAULT_CACHE_POSITIONS = 2_000_000;
export const DEFAULT_POLICY_TEMPERATURE = 1.359;
export const HISTORY_FILLS = ['no', 'fen_only', 'always'] as const;
export const DEFAULT_HISTORY_FILL = 'fen_only';

// biome-ignore format: a row an option
export const networkOptions: readonly OptionSpec[] = [
  option('WeightsFile', 'weights', freeText('<autodiscover>'), 'Network: a file (.onnx, or lc0’s .pb.gz), a name from `sardonyx networks`, or an https address', { otherNames: ['EvalFile'], effect: 'pool', alias: 'w' }),
  option('Backend', 'backend', { ...oneOf('auto', [...BACKENDS.keys()]), otherChoices: [...LC0_BACKENDS.keys()] }, 'What evaluates positions; auto = CUDA if it works, otherwise the CPU', { effect: 'pool', alias: 'b' }),
  option('BackendOptions', 'backend-opts', freeText(''), 'Options of the backend, as key=value,key=value', { check: (value) => checkBackendOptions(String(value)), effect: 'pool', alias: 'o' }),
  option('Threads', 'threads', int(0, 0, 128), 'Evaluator threads beside the search thread; 0 = a number that suits the backend', { effect: 'pool', alias: 't', reserves: 'core' }),
  option('NNCacheSize', 'nncache', int(DEFAULT_CACHE_POSITIONS, 0, 999_999_999), 'Number of positions in the evaluation cache; fewer where they would take more than a quarter of the memory', { effect: 'pool', reserves: 134 }),
  option('Hash', 'hash', int(0, 0, 1_048_576), 'Size of the evaluation cache in MB; 0 = NNCacheSize decides', { effect: 'pool', reserves: 2 ** 20 }),
  option('PolicyTemperature', 'policy-softmax-temp', float(DEFAULT_POLICY_TEMPERATURE, 0.1, 10), 'Temperature of the policy softmax; higher makes the priors more equal.', { effect: 'evaluator' }),
  option('HistoryFill', 'history-fill', oneOf(DEFAULT_HISTORY_FILL, HISTORY_FILLS), 'Input planes of the history before the first known position: no = empty, always = copies of that position, fen_only = copies unless it is the start position.', { effect: 'evaluator' }),
];
