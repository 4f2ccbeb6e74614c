/**
 * lc0's en-passant flag, which is weaker than ours: it is set when an enemy pawn stands beside the pawn that moved two
 * squares, whether or not the capture would leave the king in check.
 */
import { moveFrom, moveTo, PAWN, type Position } from '../chess/index.js';

/** The file on which the side to move might capture en passant, or -1. */
export function getEnPassantFile(position: Position): number {
  if (position.enPassantSquare >= 0) return position.enPassantSquare & 7;
  if (position.historyLength === 0) return -1;
  const move = position.lastMove();
  const to = moveTo(move);
  const board = position.board;
  if (Math.abs(to - moveFrom(move)) !== 16 || (board[to] & 7) !== PAWN) return -1;
  const capturer = PAWN | (position.sideToMove << 3);
  const file = to & 7;
  const isBeside = (file > 0 && board[to - 1] === capturer) || (file < 7 && board[to + 1] === capturer);
  return isBeside ? file : -1;
}
