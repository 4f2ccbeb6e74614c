/** What a file may unpack to, and into how many parts: a small file must not cost much time or memory. */
import { RefusedInput } from '../../base/util/index.js';
import type { Chunks } from './packed-bytes.js';

/** Text of games compresses to a tenth, self-play records to a fiftieth, repeated games further; small files do no harm. */
const TEXT_LIMIT = { ratio: 100, alwaysBytes: 1 << 20 };
export const RECORD_LIMIT = { ratio: 250, alwaysBytes: 1 << 23 };

/** Packed bytes of a part, on average: a game that is packed alone has some hundred. */
const LEAST_PART_BYTES = 128;
const PARTS_ALWAYS = 1000;

const BEGINNING_BYTES = 1 << 17;
const FIRST_STEP_BYTES = 1 << 11;
const STEP_BYTES = 1 << 16;

/** Counted over all that lies in a file. */
export class UnpackLimit {
  private packedBytes = 0;
  private unpackedBytes = 0;
  private parts = 0;

  constructor(private readonly limit = TEXT_LIMIT) {}

  /** Bytes of the file itself. */
  async *countPacked(chunks: Chunks): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        // What is read ahead counts, so that the beginning is read in small steps, however it comes.
        const step = chunk.subarray(at, at + (this.packedBytes < BEGINNING_BYTES ? FIRST_STEP_BYTES : STEP_BYTES));
        this.packedBytes += step.length;
        at += step.length;
        yield step;
      }
    }
  }

  /**
   * Called for each member, stream, frame or block, whatever it holds: an empty one of 20 bytes costs as much time as 10 kB of text.
   * Throws RefusedInput beyond the limit.
   */
  countPart(): void {
    if (++this.parts <= PARTS_ALWAYS + this.packedBytes / LEAST_PART_BYTES) return;
    throw new RefusedInput('it is packed in more small parts than any file of games: unpack it first');
  }

  /** Throws RefusedInput beyond the limit. */
  countUnpacked(bytes: number): void {
    this.unpackedBytes += bytes;
    const { ratio, alwaysBytes } = this.limit;
    if (this.unpackedBytes <= Math.max(alwaysBytes, ratio * this.packedBytes)) return;
    throw new RefusedInput(`it unpacks to more than ${ratio} times its size, which no such file does: unpack it first`);
  }
}
