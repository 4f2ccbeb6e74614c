/**
 * All encodings, by the names that model files and shards use. `INPUT_CLASSICAL_112_PLANE`, lc0's name for the
 * classical planes, is an alias of `lc0-112`.
 */
import { failure, type Result, success } from '../../base/util/index.js';
import { alphazeroPolicy } from './alphazero-policy.js';
import { attacksEncoding } from './attack-planes.js';
import type { InputEncoding, PolicyEncoding } from './encoding.js';
import { fromToPolicy } from './from-to-policy.js';
import { lc0Encodings, longHistoryEncoding } from './lc0-planes.js';
import { lc0Policy } from './lc0-policy.js';
import { miniEncoding } from './mini-planes.js';
import { neuralmateEncoding } from './neuralmate-planes.js';

const inputs: readonly InputEncoding[] = [
  ...lc0Encodings,
  longHistoryEncoding,
  miniEncoding,
  neuralmateEncoding,
  attacksEncoding,
];
const policies: readonly PolicyEncoding[] = [lc0Policy, alphazeroPolicy, fromToPolicy];
const ALIASES: Readonly<Record<string, string>> = { INPUT_CLASSICAL_112_PLANE: 'lc0-112' };

export function listInputEncodings(): string[] {
  return inputs.map((encoding) => encoding.name);
}

export function listPolicyEncodings(): string[] {
  return policies.map((encoding) => encoding.name);
}

/** An unknown name fails with the list of known ones; `getPolicyEncoding` likewise. */
export function getInputEncoding(name: string): Result<InputEncoding> {
  const wanted = ALIASES[name] ?? name;
  const found = inputs.find((encoding) => encoding.name === wanted);
  if (found !== undefined) return success(found);
  return failure(`Unknown input encoding "${name}"; known are ${listInputEncodings().join(', ')}`);
}

export function getPolicyEncoding(name: string): Result<PolicyEncoding> {
  const found = policies.find((encoding) => encoding.name === name);
  if (found !== undefined) return success(found);
  return failure(`Unknown policy encoding "${name}"; known are ${listPolicyEncodings().join(', ')}`);
}
