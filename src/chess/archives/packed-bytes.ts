/** Bytes that are taken in the portions that a packed format needs, from chunks of any size. */
import { BrokenInput, concatBytes } from '../../base/util/index.js';

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The bytes end before what they hold does. */
export class CutOff extends BrokenInput {
  constructor() {
    super('it is cut off: its packed data end too early');
  }
}

/** Of up to eight bytes, the lowest first; exact below 2 ** 53. */
export function readNumber(bytes: Uint8Array, from = 0, count = bytes.length - from): number {
  let number = 0;
  for (let at = from + count - 1; at >= from; at--) number = 256 * number + bytes[at];
  return number;
}

export class PackedBytes {
  private readonly iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  /** Of the source; thrown once everything before it was taken. */
  private failure: { readonly error: unknown } | null = null;

  constructor(chunks: Chunks) {
    this.iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  }

  /** Exactly so many bytes. Throws CutOff when the file ends before. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = await this.takeSome(count, count);
    if (bytes.length < count) throw this.findEnd();
    return bytes;
  }

  /** Why there are no more bytes than those that were taken. */
  findEnd(): unknown {
    return this.failure === null ? new CutOff() : this.failure.error;
  }

  /** As `readNumber`. */
  async takeNumber(count: number): Promise<number> {
    return readNumber(await this.take(count));
  }

  /** From `least` to `most` bytes; fewer only at the end. */
  async takeSome(least: number, most: number): Promise<Uint8Array> {
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
    const all = this.held.length === 1 ? this.held[0] : concatBytes(this.held);
    const taken = all.subarray(0, most);
    this.held = [];
    this.heldBytes = 0;
    this.giveBack(all.subarray(most));
    return taken;
  }

  /** The next bytes, which are taken again. */
  async peek(count: number): Promise<Uint8Array> {
    const bytes = await this.takeSome(count, count);
    this.giveBack(bytes);
    return bytes;
  }

  /** The bytes are taken again next. */
  giveBack(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.heldBytes += bytes.length;
    const [next] = this.held;
    // Neighbours become one piece again, so that taking both does not copy them.
    if (next?.buffer === bytes.buffer && next.byteOffset === bytes.byteOffset + bytes.length) {
      this.held[0] = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length + next.length);
    } else this.held.unshift(bytes);
  }

  /** All that follows. */
  async *rest(): AsyncGenerator<Uint8Array, void, void> {
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
