/**
 * Files that may be gzipped. A small one must not claim gigabytes: weights hardly compress (lc0's to about 75 %), but an
 * all-zero network shrinks a thousandfold and is still a network, so inflating up to some size is always allowed, and beyond it
 * up to a ratio.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { failure, type Result, success } from './result.js';

const LARGEST_BYTES = 2 ** 31 - 1;
const ALWAYS_ALLOWED_BYTES = 256 * 2 ** 20;
const LARGEST_RATIO = 16;
const unpack = promisify(gunzip);

/** Whether a file that begins with these bytes, two at least, is gzipped (RFC 1952, 2.3.1). */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** How far a gzipped file of this size may inflate. */
export function getInflationLimit(sizeBytes: number): number {
  return Math.min(LARGEST_BYTES, Math.max(ALWAYS_ALLOWED_BYTES, sizeBytes * LARGEST_RATIO));
}

export function describeTooLarge(limitBytes: number): string {
  return `it inflates to more than ${Math.floor(limitBytes / 2 ** 20)} MB`;
}

/** @returns null for errors that are not zlib's */
export function describeInflationFailure(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'the file is cut off: its compressed data end too early';
  return code?.startsWith('Z_') ? 'the compressed data are damaged' : null;
}

/** What is gzipped inflated, the rest as it is. Works in libuv's threads. The failure says why, without its subject. */
export async function inflate(bytes: Uint8Array): Promise<Result<Uint8Array>> {
  if (!isGzip(bytes)) return success(bytes);
  const maxOutputLength = getInflationLimit(bytes.length);
  try {
    return success(await unpack(bytes, { maxOutputLength }));
  } catch (error) {
    return failure(describeInflationFailure(error) ?? describeTooLarge(maxOutputLength));
  }
}
