/**
 * Backend options that choose among what one network file can become: `policy_head`, `value_head`, `datatype` and
 * `fp16`, named as lc0 names them, and `winograd`. They matter to whoever converts the file; a finished ONNX model has its heads.
 */
import { type Result, success } from '../../util/index.js';
import { BackendOptionError, type BackendOptions, parseBackendOptions } from './backend-options.js';

/** Of weights and arithmetic; inputs and outputs may differ. */
export type Precision = 'f32' | 'f16';

export interface NetworkChoice {
  readonly policyHead?: string;
  readonly valueHead?: string;
  /** Absent: what suits the device. */
  readonly precision?: Precision;
  /** false: convolutions as ONNX has them, even where another way is faster. */
  readonly winograd?: false;
}

/** What the text says of the network; whether the rest is right is the plan's business. */
export function parseNetworkChoice(optionsText: string): Result<NetworkChoice> {
  const options = parseBackendOptions(optionsText);
  if (!options.ok) return options;
  try {
    return success(readNetworkChoice(options.value));
  } catch (error) {
    if (error instanceof BackendOptionError) return { ok: false, error: error.message };
    throw error;
  }
}

/** Reading them counts as read, so that a plan does not refuse them. */
export function readNetworkChoice(options: BackendOptions): NetworkChoice {
  const policyHead = options.read('policy_head');
  const valueHead = options.read('value_head');
  const type = options.read('datatype');
  if (type !== undefined && type !== 'f32' && type !== 'f16') {
    throw new BackendOptionError(`Backend option datatype must be f32 or f16, not "${type}"`);
  }
  const hasFlag = options.read('fp16') !== undefined;
  const precision = hasFlag ? (options.readFlag('fp16', false) ? 'f16' : 'f32') : type;
  const winograd = options.readFlag('winograd', true);
  return {
    ...(winograd ? {} : { winograd }),
    ...(policyHead === undefined ? {} : { policyHead }),
    ...(valueHead === undefined ? {} : { valueHead }),
    ...(precision === undefined ? {} : { precision }),
  };
}
