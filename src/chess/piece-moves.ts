/**
 * Moves of knights, bishops, rooks and queens.
 */
import type { Board } from './board.js';
import * as constraints from './constraints.js';
import * as leapers from './leapers.js';
import * as moves from './move.js';
import { BISHOP, KNIGHT, QUEEN, ROOK } from './piece.js';
import * as rays from './rays.js';
import * as sliders from './sliders.js';

const { PINNED, TARGETS } = constraints;
const { KNIGHT_ATTACKS } = leapers;
const { emitTargets } = moves;
const { LINES, pairEntry } = rays;
const { antidiagonalEntry, diagonalEntry, fileEntry, LINE_ATTACKS, rankEntry } = sliders;

/** Emits knight moves (see emitTargets) within TARGETS. */
export function emitKnights(into: Uint16Array | null, count: number, board: Board): number {
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
export function emitSliders(into: Uint16Array | null, count: number, board: Board, king: number): number {
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
