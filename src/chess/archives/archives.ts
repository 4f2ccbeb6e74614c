/**
 * The files of ZIP and tar archives in their order, from a stream, without holding the archive or a large file in memory. An archive that
 * is cut off or damaged ends with BrokenInput after all files before that place.
 * - ZIP: the files' own headers lead from one to the next, so an archive without its directory is read as far as it goes.
 * - tar: long names (GNU, pax) and large sizes are read; folders, links and other members are skipped. Written here because tar-stream
 *   holds a long name of any size.
 * Sources: PKWARE's APPNOTE.TXT, 4.3; POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
 */

import { crc32 } from '#platform/byte-streams.js';
import { BrokenInput, RefusedInput } from '../../base/util/index.js';
import { inflateRaw } from './gzip.js';
import { CutOff, type PackedBytes, readNumber } from './packed-bytes.js';
import type { UnpackLimit } from './unpack-limit.js';

export interface ArchiveMember {
  readonly name: string;
  /** Null: not known before it was read. */
  readonly sizeBytes: number | null;
  /** Read it before asking for the next member; unread bytes are skipped. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

const MEMBER = 0x04034b50;
const DIRECTORY = [0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50];
const DESCRIPTOR = 0x08074b50;
const STORED = 0;
const DEFLATED = 8;
const UNKNOWN_SIZE = 0xffffffff;
const STEP_BYTES = 1 << 16;

export function isZip(head: Uint8Array): boolean {
  return [MEMBER, DIRECTORY[1]].includes(readNumber(head.subarray(0, 4)));
}

/** A file that cannot be read is skipped where the archive says how long it is; the first such file is named at the end. */
export async function* readZipMembers(
  source: PackedBytes,
  limit: UnpackLimit,
): AsyncGenerator<ArchiveMember, void, void> {
  let problem: string | null = null;
  try {
    for (;;) {
      const signature = await source.takeNumber(4);
      limit.countPart();
      if (DIRECTORY.includes(signature)) break;
      if (signature !== MEMBER) throw new BrokenInput(problem ?? 'its ZIP archive is damaged');
      const head = await source.take(26);
      const flags = readNumber(head, 2, 2);
      const method = readNumber(head, 4, 2);
      const sizeBytes = readNumber(head, 14, 4);
      const name = decodeName(await source.take(readNumber(head, 22, 2)));
      const extra = await source.take(readNumber(head, 24, 2));
      // Bit 3: checksum and sizes follow the data.
      const hasDescriptor = (flags & 8) !== 0;
      const isEncrypted = (flags & 1) !== 0;
      const isEndless = hasDescriptor || sizeBytes === UNKNOWN_SIZE;
      if (isEncrypted || (method !== STORED && method !== DEFLATED)) {
        problem ??= `${name} in it is ${isEncrypted ? 'encrypted' : 'packed by a method that is not read'}`;
        if (isEndless) throw new BrokenInput(problem);
        const skipped = readStoredEntry(source, sizeBytes);
        while ((await skipped.next()).done !== true);
        continue;
      }
      if (method === STORED && isEndless) throw new BrokenInput(problem ?? `${name} in it does not say where it ends`);
      const content = method === STORED ? readStoredEntry(source, sizeBytes) : inflateRaw(source);
      let crc = 0;
      const counted = (async function* () {
        for await (const piece of content) {
          limit.countUnpacked(piece.length);
          crc = crc32(piece, crc);
          yield piece;
        }
      })();
      yield { name, sizeBytes: null, chunks: lend(counted) };
      while ((await counted.next()).done !== true);
      const expected = hasDescriptor ? await readDescriptor(source, hasLongSizes(extra)) : readNumber(head, 10, 4);
      if (crc !== expected) problem ??= `${name} in it does not match its checksum`;
    }
  } finally {
    await source.close();
  }
  if (problem !== null) throw new BrokenInput(problem);
}

/** The same bytes, but a reader that stops early does not end `content`. */
async function* lend(content: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  for (let next = await content.next(); next.done !== true; next = await content.next()) yield next.value;
}

async function* readStoredEntry(source: PackedBytes, sizeBytes: number): AsyncGenerator<Uint8Array, void, void> {
  for (let left = sizeBytes; left > 0; ) {
    const bytes = await source.takeSome(1, Math.min(left, STEP_BYTES));
    if (bytes.length === 0) throw new CutOff();
    left -= bytes.length;
    yield bytes;
  }
}

/** Some packers leave the signature out. @returns the checksum */
async function readDescriptor(source: PackedBytes, hasLongSizes: boolean): Promise<number> {
  let crc = await source.takeNumber(4);
  if (crc === DESCRIPTOR) crc = await source.takeNumber(4);
  await source.take(hasLongSizes ? 16 : 8);
  return crc;
}

/** Whether the extra fields hold sizes of 8 bytes (ZIP64). */
function hasLongSizes(extra: Uint8Array): boolean {
  for (let at = 0; at + 4 <= extra.length; at += 4 + readNumber(extra, at + 2, 2)) {
    if (readNumber(extra, at, 2) === 1) return true;
  }
  return false;
}

const BLOCK_BYTES = 512;
const MAGIC = 'ustar';
const MAGIC_AT = 257;
/** Number of bytes that `hasTarMagic` needs. */
export const TAR_HEAD_BYTES = BLOCK_BYTES;
/** Of a long name with everything that a pax header says. */
const MOST_HEADER_BYTES = 1 << 20;

/** The archive itself is damaged, rather than a file in it. */
export class BrokenArchive extends BrokenInput {}

/** @param head the first bytes of a file. Archives in the format used before 1988 have no magic and are not recognised. */
export function hasTarMagic(head: Uint8Array): boolean {
  return decodeName(head.subarray(MAGIC_AT, MAGIC_AT + MAGIC.length)) === MAGIC;
}

export async function* readTarMembers(
  source: PackedBytes,
  limit: UnpackLimit,
): AsyncGenerator<ArchiveMember, void, void> {
  let place = 'at its beginning';
  let longName: string | null = null;
  let longSize: number | null = null;
  try {
    for (;;) {
      const head = await source.take(BLOCK_BYTES);
      if (head.every((byte) => byte === 0)) break;
      limit.countPart();
      if (!hasRightSum(head))
        throw new BrokenArchive(`the archive is damaged ${place}: a header does not match its checksum`);
      const type = String.fromCharCode(head[156]);
      const sizeBytes = longSize ?? readTarNumber(head.subarray(124, 136));
      const padding = (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
      if ('LKxg'.includes(type)) {
        if (sizeBytes > MOST_HEADER_BYTES)
          throw new BrokenArchive(`the archive is damaged ${place}: a name of ${sizeBytes} bytes`);
        const text = new TextDecoder().decode((await source.take(sizeBytes + padding)).subarray(0, sizeBytes));
        if (type === 'L') longName = text.replace(/\0.*$/s, '');
        if (type === 'x') {
          longName = readPaxField(text, 'path') ?? longName;
          const size = readPaxField(text, 'size');
          longSize = size === null ? null : Number(size);
        }
        continue;
      }
      const name = longName ?? readName(head);
      longName = null;
      longSize = null;
      place = `in ${name}`;
      const content = explain(readStoredEntry(source, sizeBytes), place);
      const isPlainFile = '0\x007'.includes(type);
      if (isPlainFile && sizeBytes > 0) yield { name, sizeBytes, chunks: lend(content) };
      while ((await content.next()).done !== true);
      await source.take(padding);
      place = `after ${name}`;
    }
    place = 'at its end';
    // Padding, and behind it the checksum of what the archive is packed with.
    while ((await source.takeSome(1, Number.POSITIVE_INFINITY)).length > 0);
  } catch (error) {
    throw toBrokenArchive(error, place);
  } finally {
    await source.close();
  }
}

function toBrokenArchive(error: unknown, place: string): unknown {
  if (!(error instanceof BrokenInput) || error instanceof BrokenArchive || error instanceof RefusedInput) return error;
  if (error instanceof CutOff) return new BrokenArchive(`the archive is cut off ${place}`);
  return new BrokenArchive(`the archive cannot be read ${place}: ${error.message}`);
}

/** Errors of the archive pass through a reader of its content; as BrokenArchive, so that they can be told apart. */
async function* explain(content: AsyncGenerator<Uint8Array>, place: string): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* content;
  } catch (error) {
    throw toBrokenArchive(error, place);
  }
}

/** The sum of all bytes, those of the sum as blanks. */
function hasRightSum(head: Uint8Array): boolean {
  let sum = 8 * 32;
  for (let at = 0; at < BLOCK_BYTES; at++) if (at < 148 || at >= 156) sum += head[at];
  return sum === readTarNumber(head.subarray(148, 156));
}

/** Octal digits, or with the highest bit set a binary number. NaN becomes a size that no archive has. */
function readTarNumber(field: Uint8Array): number {
  if ((field[0] & 0x80) !== 0) return readNumber(field.slice(-6).reverse());
  const digits = decodeName(field).trim();
  return digits === '' ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.MAX_SAFE_INTEGER;
}

function readName(head: Uint8Array): string {
  const name = decodeName(head.subarray(0, 100));
  // Only POSIX's format has a prefix; GNU's, whose magic ends with a blank, has times there.
  const prefix = head[MAGIC_AT + MAGIC.length] === 0 ? decodeName(head.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Up to the first zero. */
function decodeName(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/\0.*$/s, '');
}

/** Records of the form `LENGTH KEY=VALUE\n`. */
function readPaxField(text: string, key: string): string | null {
  const found = text.split('\n').find((record) => record.slice(record.indexOf(' ') + 1).startsWith(`${key}=`));
  return found === undefined ? null : found.slice(found.indexOf('=') + 1);
}
