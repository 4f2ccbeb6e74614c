/**
 * Does a piece move that way at all, checks aside? Only for explaining why a move is illegal; the rules of the game are
 * in generate.ts.
 */
import { PAWN } from './piece.js';
import { getPieceAttacks } from './piece-attacks.js';
import type { Position } from './position.js';

export function canReach(position: Position, from: number, to: number): boolean {
  const { board } = position;
  const color = board[from] >> 3;
  const isCapture = board[to] !== 0;
  if (isCapture && board[to] >> 3 === color) return false;
  const isAttacked = ((getPieceAttacks(position, from, to < 32 ? 0 : 1) >> (to & 31)) & 1) === 1;
  if ((board[from] & 7) !== PAWN) return isAttacked;
  if (isAttacked) return isCapture || to === position.enPassantSquare;
  const step = color === 0 ? 8 : -8;
  const isFromSecond = from >> 3 === (color === 0 ? 1 : 6);
  return !isCapture && (to === from + step || (to === from + 2 * step && isFromSecond && board[from + step] === 0));
}
