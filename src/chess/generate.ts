/**
 * Legal moves. Generation first finds checks and pins and narrows each piece's targets by them, so it never makes a
 * move to see whether it is legal. Only king steps, castling and en passant test squares for attackers.
 */
import type { Board } from './board.js';
import { findConstraints } from './constraints.js';
import { emitCastling, emitKingSteps } from './king-moves.js';
import type { Move } from './move.js';
import { emitEnPassant, emitPawnMoves } from './pawn-moves.js';
import { emitKnights, emitSliders } from './piece-moves.js';
import { NO_SQUARE } from './square.js';

/**
 * Room for the legal moves of any position that `parseFen` accepts and of any that follows from it. The search counts
 * moves in eight bits, so a position may have 255 at most. Hill climbing over the positions that `parseFen` accepts
 * found 215; positions that arise in games have at most 218.
 */
export const MAX_MOVES = 256;

/**
 * Writes the legal moves into `into` from index `offset` and returns the index after the last. If `into` is null it
 * returns `offset` plus the number of moves.
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

/** The legal moves as a list. It allocates: hot code calls `Position.generateLegalMoves`. */
export function listLegalMoves(board: Board): Move[] {
  const moves = new Uint16Array(MAX_MOVES);
  const count = generateMoves(board, moves, 0);
  return Array.from(moves.subarray(0, count), (move) => move as Move);
}
