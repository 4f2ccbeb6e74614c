/**
 * Is the game over? Mate and stalemate come before draws by rule, as in lc0 and in the laws of chess; the fifty-move
 * rule and threefold repetition end the game without a claim.
 */
import type { Position } from './position.js';

export type Outcome = 'ongoing' | 'checkmate' | 'stalemate' | 'insufficient-material' | 'fifty-moves' | 'threefold';

export function computeOutcome(position: Position): Outcome {
  if (position.countLegalMoves() === 0) return position.inCheck() ? 'checkmate' : 'stalemate';
  if (position.hasInsufficientMaterial()) return 'insufficient-material';
  if (position.rule50 >= 100) return 'fifty-moves';
  if (position.repetitions() >= 2) return 'threefold';
  return 'ongoing';
}
