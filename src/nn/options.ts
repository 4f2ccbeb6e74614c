/** The options of evaluation, with lc0's names and defaults; `Hash` is the alias that every GUI knows. */
import type { OptionSpec } from '../options/index.js';
import { BACKENDS } from './backend/backend-names.js';

export const networkOptions: readonly OptionSpec[] = [
  {
    uci: 'WeightsFile',
    flag: 'weights',
    alias: 'w',
    kind: 'string',
    default: '<autodiscover>',
    help: 'Network file: .onnx, or an lc0 network (.pb.gz)',
  },
  {
    uci: 'Backend',
    flag: 'backend',
    alias: 'b',
    kind: 'choice',
    default: 'auto',
    choices: [...BACKENDS.keys()],
    help: 'What evaluates positions; auto takes the best that works',
  },
  {
    uci: 'BackendOptions',
    flag: 'backend-opts',
    alias: 'o',
    kind: 'string',
    default: '',
    help: 'Options of the backend, as key=value,key=value',
  },
  {
    uci: 'Threads',
    flag: 'threads',
    alias: 't',
    kind: 'int',
    default: 0,
    min: 0,
    max: 128,
    help: 'Evaluator threads beside the search thread; 0 takes what suits the backend',
  },
  {
    uci: 'NNCacheSize',
    flag: 'nncache',
    kind: 'int',
    default: 2_000_000,
    min: 0,
    max: 999_999_999,
    help: 'Positions the evaluation cache holds',
  },
  {
    uci: 'Hash',
    flag: 'hash',
    kind: 'int',
    default: 0,
    min: 0,
    max: 1_048_576,
    help: 'Size of the evaluation cache in MB; 0 leaves it to NNCacheSize',
  },
];
