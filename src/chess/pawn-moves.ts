/**
 * Moves of pawns. All pawns that are not pinned move as one set, shifted by a rank. Each pinned pawn is a set of its
 * own whose targets are limited to the line through its king.
 */
import * as tables from './attack-tables.js';
import * as attacks from './attacks.js';
import * as constraints from './attacks.js';
import * as boards from './board.js';
import { type Board, type Color, KNIGHT, PAWN, QUEEN, WHITE } from './board.js';

const { LINES, pairEntry, PAWN_ATTACKS } = tables;
const { isAttacked } = attacks;
const { popCount64 } = boards;
const { PINNED, TARGETS } = constraints;

// Legality of en passant captures. A capture removes two pawns from one rank at once, which no pin mask describes, so
// each capture is tested with the occupied squares that it would leave. It is too rare to matter for speed.

/**
 * The set of pawns of the side to move that attack `square`, pinned ones included.
 * @param word which word of the set: 0 for squares 0..31, 1 for squares 32..63
 */
export function enPassantCapturers(board: Board, square: number, word: number): number {
  const us = board.sideToMove;
  return PAWN_ATTACKS[((us ^ 1) << 7) + 2 * square + word] & board.masks[(us << 4) + 2 * PAWN + word];
}

/** Whether the own king is safe after the en passant capture from `from` to `square`. */
export function isEnPassantSafe(board: Board, from: number, square: number): boolean {
  const masks = board.masks;
  const us = board.sideToMove;
  // `from` and the captured pawn's square become empty, `square` becomes occupied.
  const low = wordBit(from, 0) | wordBit(square, 0) | wordBit(square ^ 8, 0);
  const high = wordBit(from, 1) | wordBit(square, 1) | wordBit(square ^ 8, 1);
  const occupiedLow = (masks[0] | masks[16]) ^ low;
  const occupiedHigh = (masks[1] | masks[17]) ^ high;
  return !isAttacked(masks, board.kingSquare(us), us ^ 1, occupiedLow, occupiedHigh);
}

function wordBit(square: number, word: number): number {
  return square >> 5 === word ? 1 << square : 0;
}

/** Whether the side to move can legally capture en passant on `square`. */
export function isEnPassantLegal(board: Board, square: number): boolean {
  for (let word = 0; word < 2; word++) {
    let pawns = enPassantCapturers(board, square, word);
    while (pawns !== 0) {
      const bit = 31 - Math.clz32(pawns);
      pawns ^= 1 << bit;
      if (isEnPassantSafe(board, (word << 5) | bit, square)) return true;
    }
  }
  return false;
}

const NOT_A_FILE = 0xfefefefe | 0;
const NOT_H_FILE = 0x7f7f7f7f;
/** Rank 1 in the low word, rank 8 in the high word: a pawn that reaches them promotes. */
const LAST_RANK_LOW = 0x000000ff;
const LAST_RANK_HIGH = 0xff000000 | 0;

/**
 * Emits all pawn moves except en passant (see emitTargets), within TARGETS and PINNED.
 * @param king square of the king of the side to move
 */
export function emitPawnMoves(into: Uint16Array | null, count: number, board: Board, king: number): number {
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

/** Emits the legal en passant captures; `board.enPassantSquare` must be set. */
export function emitEnPassant(into: Uint16Array | null, count: number, board: Board): number {
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
