/**
 * Reads files that may be gzipped. A small file must not claim gigabytes. Weights hardly compress (lc0's to about 75 %), but a
 * network of zeros shrinks a thousandfold. So inflating up to a fixed size is always allowed, and beyond that up to a ratio.
 */

import { gunzip } from '#platform/byte-streams.js';
import { failure, type Result, success } from './result.js';

const LARGEST_BYTES = 2 ** 31 - 1;
const ALWAYS_ALLOWED_BYTES = 64 * 2 ** 20;
const LARGEST_RATIO = 16;

/** Whether a file that begins with these bytes, two at least, is gzipped (RFC 1952, 2.3.1). */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** First words of the small text that Git has in place of a large file (git-lfs.com, spec v1), under today's and its first name. */
const LFS_POINTER = /^version https:\/\/(?:git-lfs|hawser)/;

/** @param bytes a file, or its first 24 bytes */
export function isLfsPointer(bytes: Uint8Array): boolean {
  return LFS_POINTER.test(String.fromCharCode(...bytes.subarray(0, 24)));
}

/** Why a file holds nothing of what its name promises: it is empty, or Git has not fetched it; null if neither. */
function describeMissingContent(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return 'the file is empty';
  return isLfsPointer(bytes)
    ? 'it is a Git LFS pointer in place of the file itself, which `git lfs pull` fetches'
    : null;
}

/** Inflates gzipped bytes; returns other bytes as they are. A failure says why, without its subject; so it does for a file without content. */
export async function inflate(bytes: Uint8Array): Promise<Result<Uint8Array>> {
  const inflated = isGzip(bytes) ? await inflateGzip(bytes) : success(bytes);
  const missing = inflated.ok ? describeMissingContent(inflated.value) : null;
  return missing === null ? inflated : failure(missing);
}

async function inflateGzip(bytes: Uint8Array): Promise<Result<Uint8Array>> {
  const limitBytes = Math.min(LARGEST_BYTES, Math.max(ALWAYS_ALLOWED_BYTES, bytes.length * LARGEST_RATIO));
  // Right unless the file lies, so the content is copied once and memory holds it once.
  let content = new Uint8Array(Math.min(readDeclaredSize(bytes), limitBytes));
  let sizeBytes = 0;
  try {
    for await (const part of gunzip([bytes])) {
      const neededBytes = sizeBytes + part.length;
      if (neededBytes > limitBytes) return failure(`it inflates to more than ${Math.floor(limitBytes / 2 ** 20)} MB`);
      if (neededBytes > content.length) {
        const grown = new Uint8Array(Math.min(limitBytes, Math.max(neededBytes, 2 * content.length)));
        grown.set(content.subarray(0, sizeBytes));
        content = grown;
      }
      content.set(part, sizeBytes);
      sizeBytes = neededBytes;
    }
    return success(content.subarray(0, sizeBytes));
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'Z_BUF_ERROR') return failure('the file is cut off: its compressed data end too early');
    if (code?.startsWith('Z_')) return failure('the compressed data are damaged');
    throw error;
  }
}

/** The last four bytes of a gzip file: its inflated size modulo 2^32 (RFC 1952, 2.3.1). */
function readDeclaredSize(bytes: Uint8Array): number {
  const tail = bytes.subarray(-4);
  return tail.length === 4 ? new DataView(tail.buffer, tail.byteOffset).getUint32(0, true) : 0;
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
