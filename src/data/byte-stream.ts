/**
 * Input files of any size as a stream of chunks, unpacked if their content is gzip, zstd or bzip2, and as lines. Lines are read
 * as latin1: everything that we look at is ASCII, and a byte stays a byte.
 */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { isGzip } from '../util/index.js';
import { findUnpacker, UNPACKER_HEAD_BYTES, type UnpackerFactory } from './unpacker.js';

const CHUNK_BYTES = 1 << 18;
/** Compressed bytes per step; gzip inflates them to a thousand times as many at most. */
const PACKED_BYTES = 1 << 16;
const NEWLINE = 10;

export type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

/** Throws the file system's errors. @param onBytes called with the number of bytes of the file that were read */
export async function* readFileChunks(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** A file's chunks, unpacked if they are gzip, zstd or bzip2. */
export async function* readChunks(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const { head, chunks } = await peekChunks(readFileChunks(path, onBytes), UNPACKER_HEAD_BYTES);
  const create = findUnpacker(head);
  yield* isGzip(head) ? gunzipChunks(chunks) : create === null ? chunks : unpackChunks(chunks, create);
}

/** Throws the unpacker's error after it has yielded everything that was unpacked before the damage. */
async function* unpackChunks(chunks: Chunks, create: UnpackerFactory): AsyncGenerator<Buffer> {
  const unpacked: Uint8Array[] = [];
  const unpacker = create((part) => unpacked.push(part));
  const takeAll = (): Buffer[] =>
    unpacked.splice(0).map((part) => Buffer.from(part.buffer, part.byteOffset, part.length));
  let damage: unknown;
  const push = (bytes: Uint8Array, isLast: boolean): void => {
    try {
      unpacker.push(bytes, isLast);
    } catch (error) {
      damage = error;
    }
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length && damage === undefined; at += PACKED_BYTES) {
      push(chunk.subarray(at, at + PACKED_BYTES), false);
      yield* takeAll();
    }
    if (damage !== undefined) throw damage;
  }
  push(new Uint8Array(0), true);
  yield* takeAll();
  if (damage !== undefined) throw damage;
}

/**
 * Throws zlib's error after it has yielded everything that was unpacked before the damage. A stream pipe cannot do that:
 * when it fails, it drops the chunks that were not read yet.
 */
export async function* gunzipChunks(chunks: Chunks): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const unpacked: Buffer[] = [];
  let failure: Error | undefined;
  gunzip.on('data', (chunk: Buffer) => unpacked.push(chunk));
  // The callback of `write` is not called if zlib fails or zeros follow the last gzip member.
  const ended = new Promise((resolve) => gunzip.once('close', resolve).once('end', resolve));
  gunzip.on('error', (error) => {
    failure = error;
  });
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += PACKED_BYTES) {
        const written = new Promise((resolve) => gunzip.write(chunk.subarray(at, at + PACKED_BYTES), resolve));
        await Promise.race([written, ended]);
        yield* unpacked.splice(0);
        if (failure) throw failure;
        if (gunzip.readableEnded) return;
      }
    }
    gunzip.end();
    await ended;
    yield* unpacked.splice(0);
    if (failure) throw failure;
  } finally {
    gunzip.destroy();
  }
}

/** The first bytes (fewer if the stream is shorter), and all chunks, those bytes included. */
export async function peekChunks(
  chunks: Chunks,
  headBytes: number,
): Promise<{ head: Buffer; chunks: AsyncGenerator<Buffer> }> {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  const held: Buffer[] = [];
  let heldBytes = 0;
  while (heldBytes < headBytes) {
    const next = await iterator.next();
    if (next.done === true) break;
    held.push(next.value);
    heldBytes += next.value.length;
  }
  const head = Buffer.concat(held);
  return { head: head.subarray(0, headBytes), chunks: readOn(head, iterator) };
}

async function* readOn(head: Buffer, iterator: AsyncIterator<Buffer> | Iterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** The complete lines of each chunk, a list at a time; a last line without newline counts. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end);
      yield (rest.length === 0 ? tail : Buffer.concat([...rest, tail])).toString('latin1');
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString('latin1');
}
