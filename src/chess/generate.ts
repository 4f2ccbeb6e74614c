/**
 * Legal moves. Pins and checks are found first and narrow the targets of every piece, so no move is made to see whether
 * it is legal; only king steps, castling and en passant ask whether a square is attacked.
 */
import type { Board } from './board.js';
import { findConstraints } from './constraints.js';
import { emitCastling, emitKingSteps } from './king-moves.js';
import { emitEnPassant, emitPawnMoves } from './pawn-moves.js';
import { emitKnights, emitSliders } from './piece-moves.js';
import { NO_SQUARE } from './square.js';

/**
 * Writes the legal moves into `into` from index `offset` and returns the index after the last; with `into` null it
 * returns `offset` plus their number.
 */
export function generateMoves(board: Board, into: Uint16Array | null, offset: number): number {
  const king = board.kingSquare(board.sideToMove);
  const checks = findConstraints(board.masks, board.sideToMove, king);
  let next = emitKingSteps(into, offset, board, king);
  if (checks > 1) return next;
  if (checks === 0) next = emitCastling(into, next, board, king);
  next = emitPawnMoves(into, next, board, king);
  if (board.enPassantSquare !== NO_SQUARE) next = emitEnPassant(into, next, board);
  next = emitKnights(into, next, board);
  return emitSliders(into, next, board, king);
}
