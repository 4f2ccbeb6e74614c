/**
 * Reads a network file and inflates it if it is gzipped. A file may be hostile: the sizes in its headers are compared with its
 * real length before memory is reserved, and inflating stops at a limit, so a small file cannot claim gigabytes. Nothing
 * here blocks the event loop.
 */
import { type ByteChunks, computeSha256, gunzip } from '#platform/byte-streams.js';
import { getFileSize, readFilePart, streamFile } from '#platform/files.js';
import {
  describeInflationFailure,
  describeMissingContent,
  describeTooLarge,
  getInflationLimit,
  isGzip,
} from '../../base/util/index.js';

/**
 * Thrown inside `onnx` and `lc0` if a file cannot be turned into a network. The message is one clear sentence without the file's
 * name. What their doors offer catches it and returns a failed result. Any other exception is a bug and is not caught.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

/** A file's path, or its content. */
export type FileSource = string | Uint8Array;

const CHUNK_BYTES = 1 << 20;
const MAX_FILE_BYTES = 2 ** 31 - 1;

/** SHA-256 of the file on disk, in hexadecimal. @throws NetworkError if it cannot be read */
export async function hashFile(source: FileSource): Promise<string> {
  try {
    return await computeSha256(openStream(source));
  } catch (error) {
    throw toNetworkError(error);
  }
}

/** The content of a file, inflated if it is gzipped. @throws NetworkError if it is unreadable, empty, damaged or too large */
export async function readInflated(source: FileSource): Promise<Uint8Array> {
  const bytes = await readAndInflate(source);
  const missing = describeMissingContent(bytes);
  if (missing !== null) throw new NetworkError(missing);
  return bytes;
}

async function readAndInflate(source: FileSource): Promise<Uint8Array> {
  try {
    const sizeBytes = typeof source === 'string' ? await getFileSize(source) : source.length;
    if (sizeBytes > MAX_FILE_BYTES) throw new NetworkError('the file is larger than 2 GB');
    const isCompressed = isGzip(await readPart(source, 0, 2));
    const limitBytes = isCompressed ? getInflationLimit(sizeBytes) : sizeBytes;
    const expectedBytes = isCompressed ? await readDeclaredSize(source, sizeBytes) : sizeBytes;
    const sink = new ByteSink(Math.min(expectedBytes, limitBytes), limitBytes);
    const stream = openStream(source);
    for await (const chunk of isCompressed ? gunzip(stream) : stream) sink.push(chunk);
    return sink.finish();
  } catch (error) {
    throw toNetworkError(error);
  }
}

/** The last four bytes of a gzip file: its inflated size modulo 2^32, unless the file lies. */
async function readDeclaredSize(source: FileSource, sizeBytes: number): Promise<number> {
  const tail = await readPart(source, Math.max(0, sizeBytes - 4), 4);
  return tail.length === 4 ? new DataView(tail.buffer, tail.byteOffset).getUint32(0, true) : 0;
}

async function readPart(source: FileSource, position: number, length: number): Promise<Uint8Array> {
  return typeof source === 'string'
    ? readFilePart(source, position, length)
    : source.subarray(position, position + length);
}

function openStream(source: FileSource): ByteChunks {
  return typeof source === 'string' ? streamFile(source) : sliceIntoChunks(source);
}

function* sliceIntoChunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}

/** Grows by doubling up to a limit. If the first capacity is right, it never copies. */
class ByteSink {
  private buffer: Uint8Array;
  private length = 0;

  constructor(
    capacity: number,
    private readonly limitBytes: number,
  ) {
    this.buffer = new Uint8Array(Math.max(capacity, 4096));
  }

  push(chunk: Uint8Array): void {
    const needed = this.length + chunk.length;
    if (needed > this.limitBytes) throw new NetworkError(describeTooLarge(this.limitBytes));
    if (needed > this.buffer.length) {
      const grown = new Uint8Array(Math.min(this.limitBytes, Math.max(needed, this.buffer.length * 2)));
      grown.set(this.buffer.subarray(0, this.length));
      this.buffer = grown;
    }
    this.buffer.set(chunk, this.length);
    this.length = needed;
  }

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }
}

function toNetworkError(error: unknown): unknown {
  const { code } = error as { readonly code?: string };
  switch (code) {
    case 'ENOENT':
      return new NetworkError('there is no such file');
    case 'EISDIR':
      return new NetworkError('it is a folder, not a file');
    case 'EACCES':
    case 'EPERM':
      return new NetworkError('the file may not be read (permission denied)');
  }
  const inflation = describeInflationFailure(error);
  if (inflation !== null) return new NetworkError(inflation);
  const isSystemError = error instanceof Error && 'syscall' in error;
  return isSystemError ? new NetworkError(`the file cannot be read (${code})`) : error;
}
