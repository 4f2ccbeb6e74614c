/**
 * Memory for lists of different lengths inside one Int32Array: the edges of nodes, and the blocks of records. Released
 * lists wait in a bin for the next list of their size, which is all that happens while memory lasts. Only when the end
 * of the table is reached are neighbouring free lists joined (boundary tags, as in Lea's malloc), so that a full tree
 * that forgets and grows for hours does not fall to pieces.
 *
 * Everything is counted in units of `unitWords` words; unit 0 is never handed out. Words of a free list:
 *
 *   in a bin of its size   [next]
 *   joined                 [next | previous | size | … | size in the last word]
 */
const NONE = 0;
const NEXT = 0;
const PREVIOUS = 1;
const SIZE = 2;
/** Joined lists of this size and above share one bin. */
const LARGE = 256;

export class Arena {
  /** Units up to here have been handed out at least once. */
  end = 1;
  /** Units that can be handed out again. */
  freeUnits = 0;

  private readonly unitWords: number;
  private words: Int32Array = new Int32Array(0);
  private capacity = 0;
  /** First list of each size: released and not joined; joined. */
  private readonly released = new Int32Array(LARGE + 1);
  private readonly joined = new Int32Array(LARGE + 1);
  private releasedCount = 0;
  /** One bit a unit: a joined free list starts, or ends, with it. */
  private starts = new Int32Array(0);
  private ends = new Int32Array(0);

  /** @param unitWords at least 4 */
  constructor(unitWords: number) {
    this.unitWords = unitWords;
  }

  /**
   * Prepares for a table that has grown; its old contents have to be in it.
   * @returns what goes over to it, and cannot fail
   */
  prepareGrowth(words: Int32Array, capacityUnits: number): () => void {
    const starts = new Int32Array((capacityUnits >> 5) + 1);
    const ends = new Int32Array((capacityUnits >> 5) + 1);
    starts.set(this.starts);
    ends.set(this.ends);
    return () => {
      this.words = words;
      this.capacity = capacityUnits;
      this.starts = starts;
      this.ends = ends;
    };
  }

  get room(): number {
    return this.capacity - this.end;
  }

  clear(): void {
    // Only what was used: the bits of a large table are many pages that were never touched.
    this.starts.fill(0, 0, (this.end >> 5) + 1);
    this.ends.fill(0, 0, (this.end >> 5) + 1);
    this.end = 1;
    this.freeUnits = 0;
    this.releasedCount = 0;
    this.released.fill(NONE);
    this.joined.fill(NONE);
  }

  /**
   * @param size in units, below 256 or a power of two
   * @param mayExtend whether the end of the table may move
   * @returns the first unit, 0 when there is no room
   */
  allocate(size: number, mayExtend: boolean): number {
    const { released } = this;
    const free = released[size];
    if (free !== NONE) {
      released[size] = this.words[free * this.unitWords + NEXT];
      this.releasedCount--;
      this.freeUnits -= size;
      return free;
    }
    if (mayExtend && this.end + size <= this.capacity) {
      const first = this.end;
      this.end += size;
      return first;
    }
    const found = this.takeJoined(size);
    if (found !== NONE || this.releasedCount === 0) return found;
    this.joinReleased();
    return this.takeJoined(size);
  }

  release(first: number, size: number): void {
    this.words[first * this.unitWords + NEXT] = this.released[size];
    this.released[size] = first;
    this.releasedCount++;
    this.freeUnits += size;
  }

  private takeJoined(size: number): number {
    const { joined, words, unitWords } = this;
    for (let bin = Math.min(size, LARGE); bin <= LARGE; bin++) {
      for (let first = joined[bin]; first !== NONE; first = words[first * unitWords + NEXT]) {
        const found = words[first * unitWords + SIZE];
        if (found < size) continue;
        this.unlink(first);
        if (found > size) this.link(first + size, found - size);
        this.freeUnits -= size;
        return first;
      }
    }
    return NONE;
  }

  private joinReleased(): void {
    const { released, words, unitWords } = this;
    for (let size = 1; size <= LARGE; size++) {
      for (let first = released[size]; first !== NONE; ) {
        const next = words[first * unitWords + NEXT];
        this.join(first, size);
        first = next;
      }
      released[size] = NONE;
    }
    this.releasedCount = 0;
  }

  private join(first: number, size: number): void {
    const { words, unitWords } = this;
    let start = first;
    let total = size;
    const after = first + size;
    if (after < this.end && hasBit(this.starts, after)) {
      total += words[after * unitWords + SIZE];
      this.unlink(after);
    }
    if (hasBit(this.ends, first - 1)) {
      const before = words[first * unitWords - 1];
      start = first - before;
      total += before;
      this.unlink(start);
    }
    this.link(start, total);
  }

  private link(first: number, size: number): void {
    const { words, unitWords, joined } = this;
    const bin = Math.min(size, LARGE);
    const at = first * unitWords;
    const next = joined[bin];
    words[at + NEXT] = next;
    words[at + PREVIOUS] = NONE;
    words[at + SIZE] = size;
    words[at + size * unitWords - 1] = size;
    if (next !== NONE) words[next * unitWords + PREVIOUS] = first;
    joined[bin] = first;
    flipBit(this.starts, first);
    flipBit(this.ends, first + size - 1);
  }

  private unlink(first: number): void {
    const { words, unitWords, joined } = this;
    const at = first * unitWords;
    const next = words[at + NEXT];
    const previous = words[at + PREVIOUS];
    const size = words[at + SIZE];
    if (previous !== NONE) words[previous * unitWords + NEXT] = next;
    else joined[Math.min(size, LARGE)] = next;
    if (next !== NONE) words[next * unitWords + PREVIOUS] = previous;
    flipBit(this.starts, first);
    flipBit(this.ends, first + size - 1);
  }
}

function hasBit(bits: Int32Array, index: number): boolean {
  return (bits[index >> 5] & (1 << (index & 31))) !== 0;
}

function flipBit(bits: Int32Array, index: number): void {
  bits[index >> 5] ^= 1 << (index & 31);
}
