/** The men of a position in one short list, and their material key. Filled anew for each probe. */
import type { Position } from '../chess/index.js';
import { MATERIAL_UNITS, MOST_MEN } from './material.js';

export class PieceList {
  readonly codes = new Uint8Array(MOST_MEN);
  readonly squares = new Int32Array(MOST_MEN);
  count = 0;
  key = 0;

  /** @param position of at most seven men */
  fill(position: Position): void {
    const { masks, board } = position;
    this.count = 0;
    this.key = 0;
    for (let word = 0; word < 2; word++) {
      let occupied = masks[word] | masks[16 + word];
      while (occupied !== 0) {
        const bit = 31 - Math.clz32(occupied);
        occupied ^= 1 << bit;
        const square = (word << 5) | bit;
        const code = board[square];
        this.codes[this.count] = code;
        this.squares[this.count++] = square;
        this.key += MATERIAL_UNITS[code];
      }
    }
  }
}
