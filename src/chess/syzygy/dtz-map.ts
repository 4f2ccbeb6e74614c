/**
 * Turns the numbers that a DTZ table stores into plies. A table may number its values by frequency, separately for each result,
 * and then keeps lists of the values. It may also count full moves instead of plies.
 */

import { FLAG_LOSS_PLIES, FLAG_MAPPED, FLAG_WIDE, FLAG_WIN_PLIES } from './compressed-values.js';
import { DamagedTable } from './file-bytes.js';
import type { HeaderReader } from './header-reader.js';

/** Number of the list by result + 2. The lists are wins, losses, cursed wins, blessed losses; draws have none. */
const LIST_OF_RESULT = [1, 3, 0, 2, 0];
const LISTS = 4;

export class DtzMap {
  /** Null if the table stores the values themselves. */
  private readonly lists: readonly Uint16Array[] | null = null;

  /** Reads the lists, at whose first byte `header` must stand. */
  constructor(
    private readonly flags: number,
    header: HeaderReader,
  ) {
    if ((flags & FLAG_MAPPED) === 0) return;
    const isWide = (flags & FLAG_WIDE) !== 0;
    if (isWide) header.alignTo(2);
    const read = (): number => (isWide ? header.readUint16() : header.readByte());
    this.lists = Array.from({ length: LISTS }, () => Uint16Array.from({ length: read() }, read));
  }

  /**
   * @param wdl result of the position, not a draw
   * @returns plies to the next capture or pawn move, at least 1
   */
  toPlies(stored: number, wdl: number): number {
    const { flags, lists } = this;
    let value = stored;
    if (lists !== null) {
      const list = lists[LIST_OF_RESULT[wdl + 2]];
      if (stored >= list.length) throw new DamagedTable('a distance is missing');
      value = list[stored];
    }
    const isInPlies = wdl === 2 ? (flags & FLAG_WIN_PLIES) !== 0 : wdl === -2 && (flags & FLAG_LOSS_PLIES) !== 0;
    return (isInPlies ? value : 2 * value) + 1;
  }
}
