/**
 * Checks and pins, and how they limit the moves of the side to move. Generation computes them once a position, looking
 * outwards from the king, and then produces legal moves only.
 */
import * as tables from './attack-tables.js';
import { BISHOP, KNIGHT, PAWN, popCount64, QUEEN, ROOK } from './board.js';

const { BETWEEN, BISHOP_RAYS, KNIGHT_ATTACKS, pairEntry, PAWN_ATTACKS, ROOK_RAYS } = tables;

/**
 * Results of the last call of findConstraints, two words each. They live here because returning four numbers would
 * allocate an object.
 *
 *   TARGETS   squares to which a piece other than the king may move: all without an own piece or, in check, those that
 *             capture the checker or block it (meaningless in double check)
 *   PINNED    own pieces that may move only along the line through their king
 */
export const TARGETS = new Int32Array(2);
export const PINNED = new Int32Array(2);

/**
 * Fills TARGETS and PINNED and returns the number of pieces that give check.
 * @param masks see Board.masks
 * @param king square of the king of `us`
 */
export function findConstraints(masks: Int32Array, us: number, king: number): number {
  const own = us << 4;
  const enemy = own ^ 16;
  const occupiedLow = masks[0] | masks[16];
  const occupiedHigh = masks[1] | masks[17];
  const pawns = (us << 7) + 2 * king;
  let checkersLow =
    (KNIGHT_ATTACKS[2 * king] & masks[enemy + 2 * KNIGHT]) | (PAWN_ATTACKS[pawns] & masks[enemy + 2 * PAWN]);
  let checkersHigh =
    (KNIGHT_ATTACKS[2 * king + 1] & masks[enemy + 2 * KNIGHT + 1]) |
    (PAWN_ATTACKS[pawns + 1] & masks[enemy + 2 * PAWN + 1]);
  let shieldLow = 0;
  let shieldHigh = 0;
  let pinnedLow = 0;
  let pinnedHigh = 0;
  for (let word = 0; word < 2; word++) {
    // Sliders that would attack the king on an empty board. With no piece between they give check; with one they pin
    // it if it is ours; with more they do nothing.
    const queens = masks[enemy + 2 * QUEEN + word];
    let snipers =
      (ROOK_RAYS[2 * king + word] & (masks[enemy + 2 * ROOK + word] | queens)) |
      (BISHOP_RAYS[2 * king + word] & (masks[enemy + 2 * BISHOP + word] | queens));
    while (snipers !== 0) {
      const bit = 31 - Math.clz32(snipers);
      snipers ^= 1 << bit;
      const pair = pairEntry(king, (word << 5) | bit);
      const low = BETWEEN[pair] & occupiedLow;
      const high = BETWEEN[pair + 1] & occupiedHigh;
      const blockers = popCount64(low, high);
      if (blockers === 0) {
        if (word === 0) checkersLow |= 1 << bit;
        else checkersHigh |= 1 << bit;
        shieldLow |= BETWEEN[pair];
        shieldHigh |= BETWEEN[pair + 1];
      } else if (blockers === 1) {
        pinnedLow |= low & masks[own];
        pinnedHigh |= high & masks[own + 1];
      }
    }
  }
  const isCheck = (checkersLow | checkersHigh) !== 0;
  TARGETS[0] = isCheck ? checkersLow | shieldLow : ~masks[own];
  TARGETS[1] = isCheck ? checkersHigh | shieldHigh : ~masks[own + 1];
  PINNED[0] = pinnedLow;
  PINNED[1] = pinnedHigh;
  return isCheck ? popCount64(checkersLow, checkersHigh) : 0;
}
