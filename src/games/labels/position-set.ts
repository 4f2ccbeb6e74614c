/**
 * A set of positions by their 64-bit keys, so that none is labelled twice. JavaScript's own Set ends at 16.7 million entries and
 * takes ten times the memory of these 16 bytes a position (open addressing, at most half full).
 */

import type { Position } from '../../chess/rules/index.js';

const FIRST_CAPACITY = 1024;

export class PositionSet {
  /** Two words a slot: low and high half of the key; an empty slot is 0, 0. */
  private words = new Uint32Array(2 * FIRST_CAPACITY);
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** @returns whether the position is new */
  add({ keyLow, keyHigh }: Pick<Position, 'keyLow' | 'keyHigh'>): boolean {
    if (2 * (this.count + 1) > this.words.length / 2) this.grow();
    return this.insert(keyLow >>> 0, keyHigh >>> 0);
  }

  private insert(low: number, high: number): boolean {
    const { words } = this;
    const mask = words.length / 2 - 1;
    for (let slot = (low ^ Math.imul(high, 0x9e3779b1)) & mask; ; slot = (slot + 1) & mask) {
      const at = 2 * slot;
      if (words[at] === low && words[at + 1] === high) return false;
      if (words[at] !== 0 || words[at + 1] !== 0) continue;
      words[at] = low;
      words[at + 1] = high;
      this.count++;
      return true;
    }
  }

  private grow(): void {
    const old = this.words;
    this.words = new Uint32Array(2 * old.length);
    this.count = 0;
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== 0 || old[at + 1] !== 0) this.insert(old[at], old[at + 1]);
    }
  }
}
