/**
 * Unpacks gzip, zstd and bzip2, told apart by their first bytes, in small pieces; refuses what unpacks to more than any file of games.
 * Everything before a damaged place is handed on; then BrokenInput says what could not be read.
 */
import { BrokenInput, isGzip, RefusedInput } from '../util/index.js';
import { isBzip2, unpackBzip2 } from './bzip2.js';
import { unpackGzip } from './deflate.js';
import { type Chunks, PackedBytes } from './packed-bytes.js';
import { isZstd, unpackZstd } from './zstd.js';

/** Enough for `findPacking`. */
const HEAD_BYTES = 8;
/** Text of games compresses to a tenth, self-play records to a fiftieth, repeated games further; small files do no harm. */
const TEXT_LIMIT = { ratio: 100, alwaysBytes: 1 << 20 };
export const RECORD_LIMIT = { ratio: 250, alwaysBytes: 1 << 23 };

const FIRST_STEP_BYTES = 1 << 11;
const STEP_BYTES = 1 << 16;

type Unpacker = (source: PackedBytes) => AsyncGenerator<Uint8Array, void, void>;

/** Formats that are recognised by their first bytes and refused with a sentence. */
const OTHERS: readonly { readonly magic: string; readonly says: string }[] = [
  { magic: 'fd377a585a00', says: 'it is packed with xz, which is not read: unpack it with "xz -d" first' },
  { magic: '1f9d', says: 'it is packed with compress, which is not read: unpack it with "gzip -d" first' },
  { magic: '4c5a4950', says: 'it is packed with lzip, which is not read: unpack it with "lzip -d" first' },
  { magic: '377abcaf271c', says: 'it is a 7z archive, which is not read: unpack it first' },
  { magic: '526172211a07', says: 'it is a RAR archive, which is not read: unpack it first' },
  { magic: '04224d18', says: 'it is packed with lz4, which is not read: unpack it with "lz4 -d" first' },
];

/** What a file may unpack to, counted over all that lies in it. */
export class UnpackLimit {
  private packedBytes = 0;
  private unpackedBytes = 0;

  constructor(private readonly limit = TEXT_LIMIT) {}

  /** Bytes of the file itself. */
  async *countPacked(chunks: Chunks): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of chunks) {
      // What is read ahead counts, so that the beginning is read in small steps.
      const stepBytes = this.packedBytes === 0 ? FIRST_STEP_BYTES : STEP_BYTES;
      for (let at = 0; at < chunk.length; at += stepBytes) {
        const step = chunk.subarray(at, at + stepBytes);
        this.packedBytes += step.length;
        yield step;
      }
    }
  }

  /** Throws RefusedInput beyond the limit. */
  countUnpacked(bytes: number): void {
    this.unpackedBytes += bytes;
    const { ratio, alwaysBytes } = this.limit;
    if (this.unpackedBytes <= Math.max(alwaysBytes, ratio * this.packedBytes)) return;
    throw new RefusedInput(`it unpacks to more than ${ratio} times its size, which no such file does: unpack it first`);
  }
}

/** @param chunks of a file, or of a file in an archive; those of the file itself go through `limit.countPacked` */
export async function* unpack(chunks: Chunks, limit: UnpackLimit): AsyncGenerator<Uint8Array, void, void> {
  const source = new PackedBytes(chunks);
  try {
    const unpacker = findUnpacker(await source.peek(HEAD_BYTES));
    if (unpacker === null) {
      yield* source.rest();
      return;
    }
    for await (const piece of unpacker(source)) {
      limit.countUnpacked(piece.length);
      yield piece;
    }
  } finally {
    await source.close();
  }
}

/** Null: the bytes are not packed, as far as we know. Throws BrokenInput for packings that are not read. */
function findUnpacker(head: Uint8Array): Unpacker | null {
  if (isGzip(head)) return unpackGzip;
  if (isZstd(head)) return unpackZstd;
  if (isBzip2(head)) return unpackBzip2;
  const hex = Array.from(head, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const other = OTHERS.find(({ magic }) => hex.startsWith(magic));
  if (other !== undefined) throw new BrokenInput(other.says);
  return null;
}
