/**
 * King steps and castling. Unlike other moves, these need to know which squares the opponent attacks.
 */
import * as attacks from './attacks.js';
import type { Board } from './board.js';
import { castledKing, castledRook } from './castling.js';
import * as leapers from './leapers.js';
import * as moves from './move.js';
import { BETWEEN, pairEntry } from './rays.js';
import { NO_SQUARE } from './square.js';

const { isAttacked } = attacks;
const { KING_ATTACKS } = leapers;
const { CASTLING_FLAG, emitTargets } = moves;

/**
 * Emits king steps (see emitTargets) to squares that no enemy piece attacks once the king has left its own square.
 * @param king square of the king of the side to move
 */
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

/** Emits castling with either rook. The king must not be in check. */
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
  // King and rook stay on one rank, so one word of the masks holds all squares concerned.
  const word = king >> 5;
  const movers = (1 << king) | (1 << rook);
  const others = (masks[word] | masks[16 + word]) & ~movers;
  const kingPath = BETWEEN[pairEntry(king, kingTo) + word] | (1 << kingTo);
  const rookPath = BETWEEN[pairEntry(rook, rookTo) + word] | (1 << rookTo);
  if ((kingPath | rookPath) & others) return false;
  // In Chess960 the rook may shield the king's path now and not afterwards, so test the path with both pieces gone.
  const occupiedLow = word === 0 ? others : masks[0] | masks[16];
  const occupiedHigh = word === 0 ? masks[1] | masks[17] : others;
  for (let rest = kingPath; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    if (isAttacked(masks, (word << 5) | bit, board.sideToMove ^ 1, occupiedLow, occupiedHigh)) return false;
  }
  return true;
}
