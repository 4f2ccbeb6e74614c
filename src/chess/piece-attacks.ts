/**
 * What a single piece attacks and where it could go. Input encodings draw attack maps from it, and error messages use
 * it to say why a move is illegal. Move generation has faster code of its own (generate.ts).
 */
import {
  antidiagonalEntry,
  diagonalEntry,
  fileEntry,
  KING_ATTACKS,
  KNIGHT_ATTACKS,
  LINE_ATTACKS,
  PAWN_ATTACKS,
  rankEntry,
} from './attack-tables.js';
import { BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK } from './board.js';
import type { Position } from './position.js';

/**
 * The set of squares that the piece on `square` attacks, one word of it: 0 for squares 0..31, 1 for squares 32..63. It
 * includes squares of own pieces and ignores pins. An empty square attacks nothing.
 */
export function getPieceAttacks(position: Position, square: number, word: 0 | 1): number {
  const low = position.masks[0] | position.masks[16];
  const high = position.masks[1] | position.masks[17];
  return getAttacksFrom(position.board[square], square, low, high, word);
}

/**
 * One word of the squares that a piece would attack from `square`.
 * @param piece piece code with its colour
 * @param low,high the occupied squares, at which sliding pieces stop
 */
export function getAttacksFrom(piece: number, square: number, low: number, high: number, word: 0 | 1): number {
  const type = piece & 7;
  if (type === PAWN) return PAWN_ATTACKS[((piece >> 3) << 7) + 2 * square + word];
  if (type === KNIGHT) return KNIGHT_ATTACKS[2 * square + word];
  if (type === KING) return KING_ATTACKS[2 * square + word];
  let attacks = 0;
  if (type === ROOK || type === QUEEN) {
    attacks |= LINE_ATTACKS[rankEntry(square, low, high) + word] | LINE_ATTACKS[fileEntry(square, low, high) + word];
  }
  if (type === BISHOP || type === QUEEN) {
    attacks |= LINE_ATTACKS[diagonalEntry(square, low, high) + word];
    attacks |= LINE_ATTACKS[antidiagonalEntry(square, low, high) + word];
  }
  return attacks;
}

/** Whether the piece on `from` can move to `to` if checks and pins are ignored; castling does not count. */
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
