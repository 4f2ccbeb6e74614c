/**
 * While nobody may castle, mirroring the files of a position changes nothing in the game. This encoding mirrors half of such
 * positions, so that a network's errors on one wing average out over a search (AlphaGo Zero evaluates each leaf under a random
 * symmetry). A hash of position and seed decides, so that the same position is always shown in the same way.
 */
import type { Position } from '../../chess/rules/index.js';
import type { InputEncoding } from './encoding.js';
import { LC0_FORMATS } from './lc0-planes.js';
import { FLIP_FILES, transformMasks } from './planes.js';

/**
 * @param seed a whole number; other seeds mirror other positions
 * @returns `inner` itself if it is canonical: it turns the board on its own
 */
export function createRandomSymmetry(inner: InputEncoding, seed: number): InputEncoding {
  const { name, planes, valuePlanes } = inner;
  if (LC0_FORMATS.some((format) => format.name === name && format.canonical)) return inner;
  return {
    name,
    planes,
    valuePlanes,
    writePacked(position, fill, masks, maskOffset, values, valueOffset) {
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
