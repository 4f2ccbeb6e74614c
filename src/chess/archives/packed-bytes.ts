/** Bytes that are taken in the portions that a packed format needs, from chunks of any size. */
import { BrokenInput, concatBytes, readUntilBreak } from '../../base/util/index.js';

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
  private readonly chunks: AsyncGenerator<Uint8Array, void, void>;
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  /** Of the source; thrown once everything before it was taken. */
  private failure: Error | null = null;

  constructor(chunks: Chunks) {
    this.chunks = readUntilBreak(chunks, (error) => {
      this.failure = error;
    });
  }

  /** Exactly so many bytes. Throws CutOff when the file ends before. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = await this.takeSome(count, count);
    if (bytes.length < count) throw this.findEnd();
    return bytes;
  }

  /** Why there are no more bytes than those that were taken. */
  findEnd(): Error {
    return this.failure ?? new CutOff();
  }

  /** As `readNumber`. */
  async takeNumber(count: number): Promise<number> {
    return readNumber(await this.take(count));
  }

  /** From `least` to `most` bytes; fewer only at the end. */
  async takeSome(least: number, most: number): Promise<Uint8Array> {
    while (this.heldBytes < least) {
      const next = await this.chunks.next();
      if (next.done === true) break;
      this.held.push(next.value);
      this.heldBytes += next.value.length;
    }
    if (this.heldBytes === 0 && least > 0 && this.failure !== null) throw this.failure;
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
    await this.chunks.return();
  }
}
