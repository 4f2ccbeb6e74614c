/**
 * An allocator for lists of different lengths in one Int32Array: the edges of nodes, and the blocks of records. A released
 * list waits in a bin for the next list of its size. Only when the end of the table is reached does the arena join
 * neighbouring free lists (boundary tags, as in Lea's malloc), so that hours of forgetting and growing do not fragment it.
 *
 * All sizes are in units of `unitWords` words; unit 0 is never handed out. The words of a free list:
 *
 *   in a bin of its size   [next]
 *   joined                 [next | previous | size | … | size in the last word]
 */
const NONE = 0;
const NEXT = 0;
const PREVIOUS = 1;
const SIZE = 2;
/** Joined lists of this size or more share one bin. */
const LARGE = 256;

export class Arena {
  /** No unit from this one on has been handed out yet. */
  end = 1;
  /** Number of released units. */
  freeUnits = 0;

  private words: Int32Array = new Int32Array(0);
  private capacity = 0;
  /** The first free list of each size, released and not joined; the first joined one. */
  private readonly released = new Int32Array(LARGE + 1);
  private readonly joined = new Int32Array(LARGE + 1);
  private releasedCount = 0;
  /** A bit for each unit: whether a joined free list starts there; ends there. */
  private starts = new Int32Array(0);
  private ends = new Int32Array(0);

  /** @param unitWords at least 4 */
  constructor(private readonly unitWords: number) {}

  /**
   * Prepares to use a larger table, which has the contents of the old one.
   * @returns a function that switches to it and cannot fail
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
    // Only the used part: most pages of a large table have never been touched.
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
   * @param mayExtend whether units that were never used may be handed out
   * @returns the first unit; 0 = there is no room
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
