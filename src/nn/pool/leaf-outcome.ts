/**
 * Is a leaf the end of the game, in the order and by the rules of lc0's node extension (ExtendNode)? Two-fold repetition
 * counts only when both occurrences lie inside the search path and the path is at least four plies long.
 */
import type { Move, Position } from '../../chess/index.js';
import { CHECKMATE, DRAW, EVALUATED, TWO_FOLD } from './leaf-slots.js';

/**
 * @param moveCount legal moves of the position
 * @param pathLength plies from the root of the search; the root itself is never a draw by rule, so that finished games
 *   can be analysed
 * @returns EVALUATED when the game goes on, else CHECKMATE, DRAW or TWO_FOLD
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

/**
 * The first move that mates, of `count` legal moves from `first` on; -1 = none. The position is as before afterwards. It
 * costs a few microseconds: every move is made, and replies are counted after checks.
 */
export function findMatingMove(position: Position, moves: Uint16Array, first: number, count: number): number {
  for (let i = first; i < first + count; i++) {
    position.makeMove(moves[i] as Move);
    const isMate = position.inCheck() && position.countLegalMoves() === 0;
    position.unmakeMove();
    if (isMate) return moves[i];
  }
  return -1;
}
