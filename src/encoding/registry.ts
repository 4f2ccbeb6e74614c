/**
 * All encodings, by the names that model files and shards use. `INPUT_CLASSICAL_112_PLANE`, lc0's name for the
 * classical planes, is an alias of `lc0-112`.
 */
import { BLACK, type Move, type Position } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';
import { attacksEncoding } from './attack-planes.js';
import {
  findMoveOfIndex,
  type HistoryFill,
  type InputEncoding,
  type PolicyEncoding,
  type PolicyIndex,
} from './encoding.js';
import { LC0_FORMATS, lc0Encodings, longHistoryEncoding } from './lc0-planes.js';
import { miniEncoding } from './mini-planes.js';
import { neuralmateEncoding } from './neuralmate-planes.js';
import { FLIP_FILES, transformMasks, transformSquare } from './planes.js';
import { alphazeroPolicy, lc0Policy } from './policies.js';

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

// While nobody may castle, mirroring the files of a position changes nothing in the game. This encoding mirrors half of such
// positions, so that a network's errors on one wing average out over a search (AlphaGo Zero evaluates each leaf under a random
// symmetry). A hash of position and seed decides, so that the same position is always shown in the same way.

/**
 * @param seed a whole number; other seeds mirror other positions
 * @returns `inner` itself if it is canonical: it turns the board on its own
 */
export function createRandomSymmetry(inner: InputEncoding, seed: number): InputEncoding {
  const { name, planes, historyLength, valuePlanes } = inner;
  if (LC0_FORMATS.some((format) => format.name === name && format.canonical)) return inner;
  return {
    name,
    planes,
    historyLength,
    valuePlanes,
    writePacked(
      position: Position,
      fill: HistoryFill,
      masks: Uint32Array,
      maskOffset: number,
      values: Float32Array,
      valueOffset: number,
    ): number {
      const transform = inner.writePacked(position, fill, masks, maskOffset, values, valueOffset);
      if (mayCastle(position) || !drawsMirror(position, seed)) return transform;
      transformMasks(masks, maskOffset, planes, FLIP_FILES);
      return FLIP_FILES;
    },
  };
}

function mayCastle(position: Position): boolean {
  for (let i = 0; i < 4; i++) if (position.castlingRooks[i] >= 0) return true;
  return false;
}

/** Half of all positions, by a mix of key and seed (the finaliser of MurmurHash3). */
function drawsMirror(position: Position, seed: number): boolean {
  let hash = Math.imul(seed ^ position.keyLow, 0x85ebca6b) ^ position.keyHigh;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) & 1) === 1;
}
