/**
 * Legal moves. Generation first finds checks and pins and narrows each piece's targets by them, so it never makes a
 * move to see whether it is legal. Only king steps, castling and en passant test squares for attackers.
 */
import * as tables from './attack-tables.js';
import * as attacks from './attacks.js';
import * as constraints from './attacks.js';
import { BISHOP, type Board, castledKing, castledRook, KNIGHT, NO_SQUARE, QUEEN, ROOK } from './board.js';
import type { Move } from './move.js';
import * as moves from './move.js';
import { emitEnPassant, emitPawnMoves } from './pawn-moves.js';

// Constants of this module's own, for the reason that attack-tables.ts gives.
const { antidiagonalEntry, diagonalEntry, fileEntry, KING_ATTACKS, KNIGHT_ATTACKS } = tables;
const { BETWEEN, LINE_ATTACKS, LINES, pairEntry, rankEntry } = tables;
const { isAttacked } = attacks;
const { findConstraints, PINNED, TARGETS } = constraints;
const { CASTLING_FLAG, emitTargets } = moves;

/** Emits knight moves (see emitTargets) within TARGETS. */
function emitKnights(into: Uint16Array | null, count: number, board: Board): number {
  const knights = (board.sideToMove << 4) + 2 * KNIGHT;
  const targetLow = TARGETS[0];
  const targetHigh = TARGETS[1];
  let next = count;
  for (let word = 0; word < 2; word++) {
    // A pinned knight has no move: every step leaves its line.
    for (let rest = board.masks[knights + word] & ~PINNED[word]; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      const from = (word << 5) | bit;
      const low = KNIGHT_ATTACKS[2 * from] & targetLow;
      const high = KNIGHT_ATTACKS[2 * from + 1] & targetHigh;
      next = emitTargets(into, next, from, low, high);
    }
  }
  return next;
}

/**
 * Emits moves of bishops, rooks and queens within TARGETS and PINNED.
 * @param king square of the king of the side to move
 */
function emitSliders(into: Uint16Array | null, count: number, board: Board, king: number): number {
  const masks = board.masks;
  const own = board.sideToMove << 4;
  const occupiedLow = masks[0] | masks[16];
  const occupiedHigh = masks[1] | masks[17];
  const targetLow = TARGETS[0];
  const targetHigh = TARGETS[1];
  let next = count;
  for (let word = 0; word < 2; word++) {
    const pinned = PINNED[word];
    const diagonal = masks[own + 2 * BISHOP + word] | masks[own + 2 * QUEEN + word];
    const straight = masks[own + 2 * ROOK + word] | masks[own + 2 * QUEEN + word];
    for (let rest = diagonal | straight; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      const from = (word << 5) | bit;
      let low = 0;
      let high = 0;
      if ((diagonal >> bit) & 1) {
        const one = diagonalEntry(from, occupiedLow, occupiedHigh);
        const two = antidiagonalEntry(from, occupiedLow, occupiedHigh);
        low = LINE_ATTACKS[one] | LINE_ATTACKS[two];
        high = LINE_ATTACKS[one + 1] | LINE_ATTACKS[two + 1];
      }
      if ((straight >> bit) & 1) {
        const one = rankEntry(from, occupiedLow, occupiedHigh);
        const two = fileEntry(from, occupiedLow, occupiedHigh);
        low |= LINE_ATTACKS[one] | LINE_ATTACKS[two];
        high |= LINE_ATTACKS[one + 1] | LINE_ATTACKS[two + 1];
      }
      if ((pinned >> bit) & 1) {
        const line = pairEntry(king, from);
        low &= LINES[line];
        high &= LINES[line + 1];
      }
      next = emitTargets(into, next, from, low & targetLow, high & targetHigh);
    }
  }
  return next;
}

/**
 * Emits king steps (see emitTargets) to squares that no enemy piece attacks once the king has left its own square.
 * @param king square of the king of the side to move
 */
function emitKingSteps(into: Uint16Array | null, count: number, board: Board, king: number): number {
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
function emitCastling(into: Uint16Array | null, count: number, board: Board, king: number): number {
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
