/**
 * Legal moves. Pins and checks are found first and narrow the targets of every piece, so no move is made to see whether
 * it is legal; only king steps and en passant ask whether a square is attacked.
 *
 * Listing and counting are one algorithm: with `into` null the sets of targets are counted instead of written, which
 * is what makes perft and "has any legal move" fast.
 */
import * as attacks from './attacks.js';
import * as bits from './bits.js';
import { castledKing, castledRook } from './castling.js';
import * as constraints from './constraints.js';
import { enPassantCapturers, isEnPassantSafe } from './en-passant.js';
import * as leapers from './leapers.js';
import { CASTLING_FLAG } from './move.js';
import { BISHOP, type Color, KNIGHT, PAWN, QUEEN, ROOK, WHITE } from './piece.js';
import * as rays from './rays.js';
import * as sliders from './sliders.js';
import { NO_SQUARE } from './square.js';

const { isAttacked } = attacks;
const { popCount64 } = bits;
const { findConstraints, PINNED, TARGETS } = constraints;
const { KING_ATTACKS, KNIGHT_ATTACKS } = leapers;
const { BETWEEN, LINES, pairEntry } = rays;
const { antidiagonalEntry, diagonalEntry, fileEntry, LINE_ATTACKS, rankEntry } = sliders;

/** What generation reads of a Position. */
interface Board {
  readonly masks: Int32Array;
  readonly sideToMove: Color;
  readonly enPassantSquare: number;
  readonly castlingRooks: Int8Array;
  kingSquare(color: Color): number;
}

const NOT_A_FILE = 0xfefefefe | 0;
const NOT_H_FILE = 0x7f7f7f7f;
/** Rank 1 in the low word, rank 8 in the high word: a pawn that lands there promotes. */
const LAST_RANK_LOW = 0x000000ff;
const LAST_RANK_HIGH = 0xff000000 | 0;

/** Where the next move goes: returns `count` plus the number of targets, written (or, with `into` null, only counted). */
function emitTargets(into: Uint16Array | null, count: number, from: number, low: number, high: number): number {
  if (into === null) return count + popCount64(low, high);
  let next = count;
  for (let rest = low; rest !== 0; ) {
    const to = 31 - Math.clz32(rest);
    rest ^= 1 << to;
    into[next++] = from | (to << 6);
  }
  for (let rest = high; rest !== 0; ) {
    const bit = 31 - Math.clz32(rest);
    rest ^= 1 << bit;
    into[next++] = from | ((32 | bit) << 6);
  }
  return next;
}

/** As emitTargets for pawns that all move by `step`, with four moves for each that reaches the last rank. */
function emitPawnTargets(into: Uint16Array | null, count: number, step: number, low: number, high: number): number {
  if ((low | high) === 0) return count;
  if (into === null) return count + popCount64(low, high) + 3 * popCount64(low & LAST_RANK_LOW, high & LAST_RANK_HIGH);
  let next = count;
  for (let word = 0; word < 2; word++) {
    for (let rest = word === 0 ? low : high; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      const to = (word << 5) | bit;
      const move = (to - step) | (to << 6);
      if (to > 7 && to < 56) {
        into[next++] = move;
      } else {
        for (let promotion = QUEEN; promotion >= KNIGHT; promotion--) into[next++] = move | (promotion << 12);
      }
    }
  }
  return next;
}

/** Moves of a set of pawns that may go to the target squares, en passant aside. */
function emitPawns(
  into: Uint16Array | null,
  count: number,
  board: Board,
  pawnsLow: number,
  pawnsHigh: number,
  targetLow: number,
  targetHigh: number,
): number {
  const masks = board.masks;
  const us = board.sideToMove;
  const enemy = (us ^ 1) << 4;
  const emptyLow = ~(masks[0] | masks[16]);
  const emptyHigh = ~(masks[1] | masks[17]);
  const captureLow = masks[enemy] & targetLow;
  const captureHigh = masks[enemy + 1] & targetHigh;
  const eastLow = (pawnsLow & NOT_H_FILE) << 1;
  const eastHigh = (pawnsHigh & NOT_H_FILE) << 1;
  const westLow = (pawnsLow & NOT_A_FILE) >>> 1;
  const westHigh = (pawnsHigh & NOT_A_FILE) >>> 1;
  const forward = us === WHITE ? 8 : -8;

  const pushLow = forwardLow(us, pawnsLow, pawnsHigh) & emptyLow;
  const pushHigh = forwardHigh(us, pawnsLow, pawnsHigh) & emptyHigh;
  // Only pawns from their second rank stand on the third after one step: rank 3 is in the low word, rank 6 in the high.
  const thirdLow = us === WHITE ? pushLow & 0x00ff0000 : 0;
  const thirdHigh = us === WHITE ? 0 : pushHigh & 0x0000ff00;
  const doubleLow = forwardLow(us, thirdLow, thirdHigh) & emptyLow & targetLow;
  const doubleHigh = forwardHigh(us, thirdLow, thirdHigh) & emptyHigh & targetHigh;

  let next = emitPawnTargets(into, count, forward, pushLow & targetLow, pushHigh & targetHigh);
  next = emitPawnTargets(into, next, 2 * forward, doubleLow, doubleHigh);
  next = emitPawnTargets(
    into,
    next,
    forward + 1,
    forwardLow(us, eastLow, eastHigh) & captureLow,
    forwardHigh(us, eastLow, eastHigh) & captureHigh,
  );
  return emitPawnTargets(
    into,
    next,
    forward - 1,
    forwardLow(us, westLow, westHigh) & captureLow,
    forwardHigh(us, westLow, westHigh) & captureHigh,
  );
}

/** A set one rank forward in the mover's direction. */
function forwardLow(us: Color, low: number, high: number): number {
  return us === WHITE ? low << 8 : (low >>> 8) | (high << 24);
}

function forwardHigh(us: Color, low: number, high: number): number {
  return us === WHITE ? (high << 8) | (low >>> 24) : high >>> 8;
}

function emitEnPassant(into: Uint16Array | null, count: number, board: Board): number {
  let next = count;
  for (let word = 0; word < 2; word++) {
    for (let pawns = enPassantCapturers(board, board.enPassantSquare, word); pawns !== 0; ) {
      const bit = 31 - Math.clz32(pawns);
      pawns ^= 1 << bit;
      const from = (word << 5) | bit;
      if (!isEnPassantSafe(board, from, board.enPassantSquare)) continue;
      if (into !== null) into[next] = from | (board.enPassantSquare << 6);
      next++;
    }
  }
  return next;
}

/** King steps to squares that are safe once the king has left its own. */
function emitKing(into: Uint16Array | null, count: number, board: Board, king: number): number {
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

/** Pawns, en passant aside. The unpinned move as one set, each pinned one by itself along its line. */
function emitAllPawns(into: Uint16Array | null, count: number, board: Board, king: number): number {
  const pawns = (board.sideToMove << 4) + 2 * PAWN;
  const low = board.masks[pawns];
  const high = board.masks[pawns + 1];
  const targetLow = TARGETS[0];
  const targetHigh = TARGETS[1];
  const pinnedLow = PINNED[0] & low;
  const pinnedHigh = PINNED[1] & high;
  let next = emitPawns(into, count, board, low ^ pinnedLow, high ^ pinnedHigh, targetLow, targetHigh);
  if ((pinnedLow | pinnedHigh) === 0) return next;
  for (let word = 0; word < 2; word++) {
    for (let rest = word === 0 ? pinnedLow : pinnedHigh; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      const line = pairEntry(king, (word << 5) | bit);
      const onLow = word === 0 ? 1 << bit : 0;
      const onHigh = word === 0 ? 0 : 1 << bit;
      next = emitPawns(into, next, board, onLow, onHigh, targetLow & LINES[line], targetHigh & LINES[line + 1]);
    }
  }
  return next;
}

function emitKnights(into: Uint16Array | null, count: number, board: Board): number {
  const knights = (board.sideToMove << 4) + 2 * KNIGHT;
  const targetLow = TARGETS[0];
  const targetHigh = TARGETS[1];
  let next = count;
  for (let word = 0; word < 2; word++) {
    // A pinned knight has no move: every step leaves the line.
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
 * Writes the legal moves into `into` from index `offset` and returns the index after the last; with `into` null it
 * returns `offset` plus their number.
 */
export function generateMoves(board: Board, into: Uint16Array | null, offset: number): number {
  const king = board.kingSquare(board.sideToMove);
  const checks = findConstraints(board.masks, board.sideToMove, king);
  let next = emitKing(into, offset, board, king);
  if (checks > 1) return next;
  if (checks === 0) next = emitCastling(into, next, board, king);
  next = emitAllPawns(into, next, board, king);
  if (board.enPassantSquare !== NO_SQUARE) next = emitEnPassant(into, next, board);
  next = emitKnights(into, next, board);
  return emitSliders(into, next, board, king);
}
