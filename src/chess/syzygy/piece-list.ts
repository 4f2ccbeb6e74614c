/**
 * The pieces of a position as a short list with the material key by which a table is found. A prober owns one list and fills it
 * again for each probe, so that probing allocates nothing.
 */

import type { Position } from '../rules/index.js';
import { MATERIAL_UNITS, MOST_MEN } from './material.js';

export class PieceList {
  /** Piece codes (see chess/rules) and squares of pieces 0 to `count` − 1, from rank 1 to rank 8 within each half. */
  readonly codes = new Uint8Array(MOST_MEN);
  readonly squares = new Int32Array(MOST_MEN);
  count = 0;
  /** See material.ts. */
  key = 0;

  /** @param position must have at most seven men */
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
