/**
 * Decides whether the game is over at a leaf, by the rules of lc0's node extension (ExtendNode) and in their order. A two-fold
 * repetition counts only if both occurrences are inside the search path and the path has at least four plies.
 */

import type { Position } from '../../../chess/rules/index.js';
import { CHECKMATE, DRAW, EVALUATED, TWO_FOLD } from '../../leaves/index.js';

/**
 * @param moveCount legal moves of the position
 * @param pathLength plies from the root of the search. The root itself is never a draw by rule, so that finished games can be
 *   analysed
 * @returns EVALUATED if the game goes on, else CHECKMATE, DRAW or TWO_FOLD
 */
export function classifyLeaf(
  position: Position,
  moveCount: number,
  pathLength: number,
  repetitions: number,
  twoFoldDraws: boolean,
): number {
  if (moveCount === 0) return position.inCheck() ? CHECKMATE : DRAW;
  if (pathLength === 0) return EVALUATED;
  if (position.rule50 >= 100 || repetitions >= 2 || position.hasInsufficientMaterial()) return DRAW;
  if (repetitions === 1 && twoFoldDraws && pathLength >= 4 && position.pliesSinceRepetition() <= pathLength) {
    return TWO_FOLD;
  }
  return EVALUATED;
}
