/**
 * From the numbers that a DTZ table stores to plies. A table numbers its values by frequency, for each result by itself, and
 * keeps the lists beside them; and it may count full moves where plies would tell the engine nothing more.
 */
import { FLAG_LOSS_PLIES, FLAG_MAPPED, FLAG_WIDE, FLAG_WIN_PLIES } from './compressed-values.js';
import { DamagedTable } from './damage.js';
import type { HeaderReader } from './header-reader.js';

/** Result + 2 → which of the four lists: wins, losses, cursed wins, blessed losses. Draws have none. */
const LIST_OF_RESULT = [1, 3, 0, 2, 0];
const LISTS = 4;

export class DtzMap {
  /** Null: the values stand for themselves. */
  private readonly lists: readonly Uint16Array[] | null = null;

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

  /** @param wdl result of the position, not a draw. @returns plies to a zeroing move, at least 1 */
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
