/**
 * Backend options that say how an lc0 network is converted to ONNX: `policy_head`, `value_head`, `datatype` and `fp16`, named as in
 * lc0, and `winograd`. They do not change the heads of a file that is ONNX already.
 */
import type { Result } from '../../../base/util/result.js';
import { BackendOptionError, type BackendOptions, readBackendOptions } from './backend-options.js';

/** Precision of weights and arithmetic; inputs and outputs may differ. */
export type Precision = 'f32' | 'f16' | 'int8';

export interface NetworkChoice {
  readonly policyHead?: string;
  readonly valueHead?: string;
  /** Absent = the device's default. */
  readonly precision?: Precision;
  /** false = keep ONNX's Conv operators, even where Winograd's algorithm is faster. */
  readonly winograd?: false;
}

/** Reads only the options about the network. planBackend checks the others. */
export function parseNetworkChoice(optionsText: string): Result<NetworkChoice> {
  return readBackendOptions(optionsText, readNetworkChoice);
}

/** Marks the options about the network as known, so that a plan does not refuse them. Throws BackendOptionError. */
export function readNetworkChoice(options: BackendOptions): NetworkChoice {
  const policyHead = options.read('policy_head');
  const valueHead = options.read('value_head');
  const type = options.read('datatype');
  if (type !== undefined && type !== 'f32' && type !== 'f16' && type !== 'int8') {
    throw new BackendOptionError(`Backend option datatype must be f32, f16 or int8, not "${type}"`);
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
