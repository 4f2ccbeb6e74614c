/**
 * The door of encoding/: turns positions into input planes and moves into policy indices, by the names that model files
 * use.
 */
export { getAlphazeroKind } from './alphazero-policy.js';
export {
  type HistoryFill,
  type InputEncoding,
  NO_POLICY_INDEX,
  type PolicyEncoding,
  type PolicyIndex,
} from './encoding.js';
export { LC0_FORMATS, type Lc0Format } from './lc0-planes.js';
export { isQueenOrKnightPath, LC0_MOVES, LC0_POLICY_SIZE } from './lc0-policy.js';
export { expandPlanes, invertTransform, transformSquare } from './planes.js';
export { createRandomSymmetry } from './random-symmetry.js';
export { getInputEncoding, getPolicyEncoding, listInputEncodings, listPolicyEncodings } from './registry.js';
