/**
 * Tells whether a game is over. Mate and stalemate come before draws by rule, as in lc0 and in the laws of chess. The
 * fifty-move rule and threefold repetition end the game at once; nobody has to claim the draw.
 */
import type { Position } from './position.js';

/** `checkmate` means that the side to move has lost; every other end is a draw. */
export type Outcome = 'ongoing' | 'checkmate' | 'stalemate' | 'insufficient-material' | 'fifty-moves' | 'threefold';

/** The outcome for a position with its history: repetitions count from the position's first FEN on. */
export function computeOutcome(position: Position): Outcome {
  if (position.countLegalMoves() === 0) return position.inCheck() ? 'checkmate' : 'stalemate';
  return computeRuleOutcome(position);
}

/** As `computeOutcome`, but it ignores mate and stalemate and so generates no moves. */
export function computeRuleOutcome(position: Position): Outcome {
  if (position.hasInsufficientMaterial()) return 'insufficient-material';
  if (position.rule50 >= FIFTY_MOVES_IN_PLIES) return 'fifty-moves';
  if (position.repetitions() >= EARLIER_OCCURRENCES) return 'threefold';
  return 'ongoing';
}

const FIFTY_MOVES_IN_PLIES = 100;
/** A position that occurs for the third time has occurred twice before. */
const EARLIER_OCCURRENCES = 2;
