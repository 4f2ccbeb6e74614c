/**
 * Options of evaluation, with lc0's names and defaults, and `Hash`, which every GUI knows. This is the second, light door of
 * nn/: it loads no code that evaluates.
 */
import type { OptionSpec } from '../options/index.js';
import { BACKENDS, LC0_BACKENDS } from './backend/backend-names.js';
import { checkBackendOptions } from './backend/backend-options.js';

export const DEFAULT_POLICY_TEMPERATURE = 1.359;
export const HISTORY_FILLS = ['no', 'fen_only', 'always'] as const;
export const DEFAULT_HISTORY_FILL = 'fen_only';

export const networkOptions: readonly OptionSpec[] = [
  {
    uci: 'WeightsFile',
    otherNames: ['EvalFile'],
    effect: 'pool',
    flag: 'weights',
    alias: 'w',
    kind: 'string',
    default: '<autodiscover>',
    help: 'Network: a file (.onnx, or lc0’s .pb.gz), a name from `sardonyx networks`, or an https address',
  },
  {
    uci: 'Backend',
    effect: 'pool',
    flag: 'backend',
    alias: 'b',
    kind: 'choice',
    default: 'auto',
    choices: [...BACKENDS.keys()],
    otherChoices: [...LC0_BACKENDS.keys()],
    help: 'What evaluates positions; auto = CUDA if it works, otherwise the CPU',
  },
  {
    uci: 'BackendOptions',
    check: (value) => checkBackendOptions(String(value)),
    effect: 'pool',
    flag: 'backend-opts',
    alias: 'o',
    kind: 'string',
    default: '',
    help: 'Options of the backend, as key=value,key=value',
  },
  {
    uci: 'Threads',
    effect: 'pool',
    flag: 'threads',
    alias: 't',
    kind: 'int',
    default: 0,
    min: 0,
    max: 128,
    help: 'Evaluator threads beside the search thread; 0 = a number that suits the backend',
  },
  {
    uci: 'NNCacheSize',
    effect: 'pool',
    flag: 'nncache',
    kind: 'int',
    default: 2_000_000,
    min: 0,
    max: 999_999_999,
    help: 'Number of positions in the evaluation cache',
  },
  {
    uci: 'Hash',
    effect: 'pool',
    flag: 'hash',
    kind: 'int',
    default: 0,
    min: 0,
    max: 1_048_576,
    help: 'Size of the evaluation cache in MB; 0 = NNCacheSize decides',
  },
  {
    uci: 'PolicyTemperature',
    effect: 'evaluator',
    flag: 'policy-softmax-temp',
    kind: 'float',
    default: DEFAULT_POLICY_TEMPERATURE,
    min: 0.1,
    max: 10,
    help: 'Temperature of the policy softmax; higher makes the priors more equal.',
  },
  {
    uci: 'HistoryFill',
    effect: 'evaluator',
    flag: 'history-fill',
    kind: 'choice',
    default: DEFAULT_HISTORY_FILL,
    choices: HISTORY_FILLS,
    help: 'What the network gets if a position has no history: no = nothing, always = the oldest position again, fen_only = the same unless it is the start position.',
  },
];
