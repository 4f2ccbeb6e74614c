/**
 * Reads a network file and inflates it if it is gzipped. A file may be hostile: inflating stops at a limit, so a small file cannot
 * claim gigabytes. Nothing here blocks the event loop.
 */
import { type ByteChunks, computeSha256 } from '#platform/byte-streams.js';
import { getFileSize, readFile, streamFile } from '#platform/files.js';
import { inflate } from '../../base/util/index.js';

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
  try {
    const sizeBytes = typeof source === 'string' ? await getFileSize(source) : source.length;
    if (sizeBytes > MAX_FILE_BYTES) throw new NetworkError('the file is larger than 2 GB');
    const inflated = await inflate(typeof source === 'string' ? await readFile(source) : source);
    if (!inflated.ok) throw new NetworkError(inflated.error);
    return inflated.value;
  } catch (error) {
    throw toNetworkError(error);
  }
}

function openStream(source: FileSource): ByteChunks {
  return typeof source === 'string' ? streamFile(source) : sliceIntoChunks(source);
}

function* sliceIntoChunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
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
  const isSystemError = error instanceof Error && 'syscall' in error;
  return isSystemError ? new NetworkError(`the file cannot be read (${code})`) : error;
}
