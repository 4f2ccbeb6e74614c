/**
 * King steps and castling, the moves for which attacked squares are looked up.
 */
import * as attacks from './attacks.js';
import type { Board } from './board.js';
import { castledKing, castledRook } from './castling.js';
import * as emit from './emit.js';
import * as leapers from './leapers.js';
import { CASTLING_FLAG } from './move.js';
import { BETWEEN, pairEntry } from './rays.js';
import { NO_SQUARE } from './square.js';

const { isAttacked } = attacks;
const { emitTargets } = emit;
const { KING_ATTACKS } = leapers;

/** King steps to squares that are safe once the king has left its own. */
export function emitKingSteps(into: Uint16Array | null, count: number, board: Board, king: number): number {
  const masks = board.masks;
  const own = board.sideToMove << 4;
  let low = KING_ATTACKS[2 * king] & ~masks[own];
  let high = KING_ATTACKS[2 * king + 1] & ~masks[own + 1];
  if ((low | high) === 0) return count;
  const occupiedLow = (masks[0] | masks[16]) & ~(king < 32 ? 1 << king : 0);
  const occupiedHigh = (masks[1] | masks[17]) & ~(king < 32 ? 0 : 1 << king);
  const them = board.sideToMove ^ 1;
  for (let rest = low; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    if (isAttacked(masks, bit, them, occupiedLow, occupiedHigh)) low ^= 1 << bit;
  }
  for (let rest = high; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    if (isAttacked(masks, 32 | bit, them, occupiedLow, occupiedHigh)) high ^= 1 << bit;
  }
  return emitTargets(into, count, king, low, high);
}

/** Castling with either rook; the king must not be in check. */
export function emitCastling(into: Uint16Array | null, count: number, board: Board, king: number): number {
  let next = count;
  for (let side = 0; side < 2; side++) {
    const rook = board.castlingRooks[2 * board.sideToMove + side];
    if (rook === NO_SQUARE || !isCastlingLegal(board, king, rook)) continue;
    if (into !== null) into[next] = king | (rook << 6) | CASTLING_FLAG;
    next++;
  }
  return next;
}

function isCastlingLegal(board: Board, king: number, rook: number): boolean {
  const masks = board.masks;
  const kingTo = castledKing(king, rook);
  const rookTo = castledRook(king, rook);
  // Everything happens on one rank, in one word of the masks.
  const word = king >> 5;
  const movers = (1 << king) | (1 << rook);
  const others = (masks[word] | masks[16 + word]) & ~movers;
  const kingPath = BETWEEN[pairEntry(king, kingTo) + word] | (1 << kingTo);
  const rookPath = BETWEEN[pairEntry(rook, rookTo) + word] | (1 << rookTo);
  if ((kingPath | rookPath) & others) return false;
  // In Chess960 the rook may have shielded the king's new square: the path is judged with both pieces gone.
  const occupiedLow = word === 0 ? others : masks[0] | masks[16];
  const occupiedHigh = word === 0 ? masks[1] | masks[17] : others;
  for (let rest = kingPath; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    if (isAttacked(masks, (word << 5) | bit, board.sideToMove ^ 1, occupiedLow, occupiedHigh)) return false;
  }
  return true;
}
