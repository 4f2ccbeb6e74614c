/** Bytes that are taken in the portions that a packed format needs, from chunks of any size. */
import { BrokenInput } from '../util/index.js';

export type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

/** The bytes end before what they hold does. */
export class CutOff extends BrokenInput {
  constructor() {
    super('it is cut off: its packed data end too early');
  }
}

export class PackedBytes {
  private readonly iterator: AsyncIterator<Buffer> | Iterator<Buffer>;
  private held: Buffer[] = [];
  private heldBytes = 0;
  /** Of the source; thrown once everything before it was taken. */
  private failure: { readonly error: unknown } | null = null;

  constructor(chunks: Chunks) {
    this.iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  }

  /** Exactly so many bytes. Throws CutOff when the file ends before. */
  async take(count: number): Promise<Buffer> {
    const bytes = await this.takeSome(count, count);
    if (bytes.length < count) throw this.failure === null ? new CutOff() : this.failure.error;
    return bytes;
  }

  /** From `least` to `most` bytes; fewer only at the end. */
  async takeSome(least: number, most: number): Promise<Buffer> {
    while (this.heldBytes < least && this.failure === null) {
      try {
        const next = await this.iterator.next();
        if (next.done === true) break;
        this.held.push(next.value);
        this.heldBytes += next.value.length;
      } catch (error) {
        this.failure = { error };
      }
    }
    if (this.heldBytes === 0 && least > 0 && this.failure !== null) throw this.failure.error;
    const all = this.held.length === 1 ? this.held[0] : Buffer.concat(this.held);
    const taken = all.subarray(0, most);
    this.held = [];
    this.heldBytes = 0;
    this.giveBack(all.subarray(most));
    return taken;
  }

  /** The bytes are taken again next. */
  giveBack(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.held.unshift(bytes);
    this.heldBytes += bytes.length;
  }

  /** All that follows. */
  async *rest(): AsyncGenerator<Buffer, void, void> {
    try {
      for (;;) {
        const bytes = await this.takeSome(1, Number.POSITIVE_INFINITY);
        if (bytes.length === 0) return;
        yield bytes;
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.iterator.return?.();
  }
}
