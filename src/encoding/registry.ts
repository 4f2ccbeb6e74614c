/**
 * All encodings, by the names that model files and shards use. `INPUT_CLASSICAL_112_PLANE`, lc0's name for the
 * classical planes, is an alias of `lc0-112`.
 */
import { BLACK, type Move, type Position } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';
import { alphazeroPolicy } from './alphazero-policy.js';
import { attacksEncoding } from './attack-planes.js';
import { findMoveOfIndex, type InputEncoding, type PolicyEncoding, type PolicyIndex } from './encoding.js';
import { lc0Encodings, longHistoryEncoding } from './lc0-planes.js';
import { lc0Policy } from './lc0-policy.js';
import { miniEncoding } from './mini-planes.js';
import { neuralmateEncoding } from './neuralmate-planes.js';
import { transformSquare } from './transform.js';

/**
 * `from-to-4096`: index = from square * 64 + to square, seen from the mover's side. It cannot say what a pawn becomes:
 * the promotions of a pawn on one square share an index, which is read as the promotion to a queen.
 */
const fromToPolicy: PolicyEncoding = {
  name: 'from-to-4096',
  size: 4096,
  injective: false,
  moveToIndex: computeFromToIndex,
  indexToMove: (position, index, transform) =>
    findMoveOfIndex({ moveToIndex: computeFromToIndex }, position, index, transform),
};

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

function computeFromToIndex(position: Position, move: Move, transform: number): PolicyIndex {
  const flip = position.sideToMove === BLACK ? 56 : 0;
  const from = transformSquare((move & 63) ^ flip, transform);
  return ((from << 6) | transformSquare(((move >> 6) & 63) ^ flip, transform)) as PolicyIndex;
}
