/**
 * Legal moves. Generation first finds checks and pins and narrows each piece's targets by them, so it never makes a
 * move to see whether it is legal. Only king steps, castling and en passant test squares for attackers.
 */
import * as attacks from './attacks.js';
import * as boards from './board.js';
import {
  BISHOP,
  type Board,
  type Color,
  castledKing,
  castledRook,
  KNIGHT,
  NO_SQUARE,
  PAWN,
  QUEEN,
  ROOK,
  WHITE,
} from './board.js';
import type { Move } from './move.js';
import * as moves from './move.js';

// Constants of this module's own, for the reason that attacks.ts gives.
const { antidiagonalEntry, diagonalEntry, fileEntry, KING_ATTACKS, KNIGHT_ATTACKS } = attacks;
const { BETWEEN, LINE_ATTACKS, LINES, PAWN_ATTACKS, pairEntry, rankEntry } = attacks;
const { findConstraints, isAttacked, PINNED, TARGETS } = attacks;
const { CASTLING_FLAG, emitTargets } = moves;
const { popCount64 } = boards;

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
  const occupiedLow = (masks[0] | masks[16]) & ~(king < 32 ? 1 << king : 0);
  const occupiedHigh = (masks[1] | masks[17]) & ~(king < 32 ? 0 : 1 << king);
  const them = board.sideToMove ^ 1;
  let next = count;
  for (let word = 0; word < 2; word++) {
    for (let rest = KING_ATTACKS[2 * king + word] & ~masks[own + word]; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      const to = (word << 5) | bit;
      if (isAttacked(masks, to, them, occupiedLow, occupiedHigh)) continue;
      if (into !== null) into[next] = king | (to << 6);
      next++;
    }
  }
  return next;
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
  if (board.enPassantSquare !== NO_SQUARE) next = emitEnPassant(into, next, board, board.enPassantSquare);
  next = emitKnights(into, next, board);
  return emitSliders(into, next, board, king);
}

/** The legal moves as a list. It allocates: hot code calls `Position.generateLegalMoves`. */
export function listLegalMoves(board: Board): Move[] {
  const moves = new Uint16Array(MAX_MOVES);
  const count = generateMoves(board, moves, 0);
  return Array.from(moves.subarray(0, count), (move) => move as Move);
}

// Moves of pawns. All pawns that are not pinned move as one set, shifted by a rank. Each pinned pawn is a set of its own whose
// targets are limited to the line through its king.

const NOT_A_FILE = 0xfefefefe | 0;
const NOT_H_FILE = 0x7f7f7f7f;
/** Rank 1 in the low word, rank 8 in the high word: a pawn that reaches them promotes. */
const LAST_RANK_LOW = 0x000000ff;
const LAST_RANK_HIGH = 0xff000000 | 0;

/**
 * Emits all pawn moves except en passant (see emitTargets), within TARGETS and PINNED.
 * @param king square of the king of the side to move
 */
function emitPawnMoves(into: Uint16Array | null, count: number, board: Board, king: number): number {
  const pawns = (board.sideToMove << 4) + 2 * PAWN;
  const low = board.masks[pawns];
  const high = board.masks[pawns + 1];
  const targetLow = TARGETS[0];
  const targetHigh = TARGETS[1];
  const pinnedLow = PINNED[0] & low;
  const pinnedHigh = PINNED[1] & high;
  let next = emitPawnSet(into, count, board, low ^ pinnedLow, high ^ pinnedHigh, targetLow, targetHigh);
  if ((pinnedLow | pinnedHigh) === 0) return next;
  for (let word = 0; word < 2; word++) {
    for (let rest = word === 0 ? pinnedLow : pinnedHigh; rest !== 0; ) {
      const bit = 31 - Math.clz32(rest);
      rest ^= 1 << bit;
      const line = pairEntry(king, (word << 5) | bit);
      const onLow = word === 0 ? 1 << bit : 0;
      const onHigh = word === 0 ? 0 : 1 << bit;
      next = emitPawnSet(into, next, board, onLow, onHigh, targetLow & LINES[line], targetHigh & LINES[line + 1]);
    }
  }
  return next;
}

/**
 * Emits the legal en passant captures on `square`. A capture removes two pawns from one rank at once, which no pin mask
 * describes, so each capture is tested with the occupied squares that it would leave. It is too rare to matter for speed.
 */
function emitEnPassant(into: Uint16Array | null, count: number, board: Board, square: number): number {
  const masks = board.masks;
  const us = board.sideToMove;
  const king = board.kingSquare(us);
  let next = count;
  for (let word = 0; word < 2; word++) {
    const attackers = PAWN_ATTACKS[((us ^ 1) << 7) + 2 * square + word];
    for (let pawns = attackers & masks[(us << 4) + 2 * PAWN + word]; pawns !== 0; ) {
      const bit = 31 - Math.clz32(pawns);
      pawns ^= 1 << bit;
      const from = (word << 5) | bit;
      // `from` and the captured pawn's square become empty, `square` becomes occupied.
      const low = wordBit(from, 0) | wordBit(square, 0) | wordBit(square ^ 8, 0);
      const high = wordBit(from, 1) | wordBit(square, 1) | wordBit(square ^ 8, 1);
      const occupiedLow = (masks[0] | masks[16]) ^ low;
      const occupiedHigh = (masks[1] | masks[17]) ^ high;
      if (isAttacked(masks, king, us ^ 1, occupiedLow, occupiedHigh)) continue;
      if (into !== null) into[next] = from | (square << 6);
      next++;
    }
  }
  return next;
}

function wordBit(square: number, word: number): number {
  return square >> 5 === word ? 1 << square : 0;
}

/** Whether the side to move can legally capture en passant on `square`. */
export function isEnPassantLegal(board: Board, square: number): boolean {
  return emitEnPassant(null, 0, board, square) > 0;
}

/** Emits steps and captures of a set of pawns to the target squares. */
function emitPawnSet(
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
  // A pawn may step twice if its first step reached rank 3 (White, in the low word) or rank 6 (Black, in the high
  // word).
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

/** Low word of a set moved one rank forward, as seen by `us`. */
function forwardLow(us: Color, low: number, high: number): number {
  return us === WHITE ? low << 8 : (low >>> 8) | (high << 24);
}

/** High word of the same. */
function forwardHigh(us: Color, low: number, high: number): number {
  return us === WHITE ? (high << 8) | (low >>> 24) : high >>> 8;
}

/**
 * As emitTargets, for pawns that reach the target squares by the same `step`; a pawn that reaches the last rank has
 * four moves.
 */
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
