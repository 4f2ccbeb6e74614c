/**
 * Does a piece move that way at all, checks aside? Only for explaining why a move is illegal; the rules of the game are
 * in generate.ts.
 */
import { KING_ATTACKS, KNIGHT_ATTACKS, PAWN_ATTACKS } from './leapers.js';
import { BISHOP, KING, KNIGHT, PAWN, QUEEN } from './piece.js';
import type { Position } from './position.js';
import { BETWEEN, BISHOP_RAYS, pairEntry, ROOK_RAYS } from './rays.js';

export function canReach(position: Position, from: number, to: number): boolean {
  const { board, masks } = position;
  const color = board[from] >> 3;
  const target = board[to];
  if (from === to || (target !== 0 && target >> 3 === color)) return false;
  const contains = (table: Int32Array, entry: number): boolean => ((table[entry + (to >> 5)] >> (to & 31)) & 1) === 1;
  const between = pairEntry(from, to);
  const isFree = ((BETWEEN[between] & (masks[0] | masks[16])) | (BETWEEN[between + 1] & (masks[1] | masks[17]))) === 0;
  const type = board[from] & 7;
  if (type === KNIGHT) return contains(KNIGHT_ATTACKS, 2 * from);
  if (type === KING) return contains(KING_ATTACKS, 2 * from);
  if (type === PAWN) {
    if (contains(PAWN_ATTACKS, 128 * color + 2 * from)) return target !== 0 || to === position.enPassantSquare;
    const forward = (to - from) * (color === 0 ? 1 : -1);
    const isFromSecond = from >> 3 === (color === 0 ? 1 : 6);
    return target === 0 && (forward === 8 || (forward === 16 && isFromSecond && isFree));
  }
  const diagonal = contains(BISHOP_RAYS, 2 * from);
  const straight = contains(ROOK_RAYS, 2 * from);
  return isFree && ((type !== BISHOP && straight) || ((type === BISHOP || type === QUEEN) && diagonal));
}
