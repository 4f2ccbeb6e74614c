/**
 * The files of a ZIP archive in their order, from a stream: their own headers lead from one to the next, so an archive that is cut off,
 * and so has no directory, is read as far as it goes. Source: PKWARE's APPNOTE.TXT, 4.3.
 */
import { crc32 } from 'node:zlib';
import { BrokenInput } from '../util/index.js';
import { inflateRaw } from './deflate.js';
import { CutOff, type PackedBytes } from './packed-bytes.js';
import type { UnpackLimit } from './unpack.js';

export interface ArchiveMember {
  readonly name: string;
  /** Null: not known before it was read. */
  readonly sizeBytes: number | null;
  /** Read it before asking for the next member; unread bytes are skipped. */
  readonly chunks: AsyncIterable<Buffer>;
}

const MEMBER = 0x04034b50;
const DIRECTORY = [0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50];
const DESCRIPTOR = 0x08074b50;
const STORED = 0;
const DEFLATED = 8;
const UNKNOWN_SIZE = 0xffffffff;
const STEP_BYTES = 1 << 16;

export function isZip(head: Buffer): boolean {
  return head.length >= 4 && [MEMBER, DIRECTORY[1]].includes(head.readUInt32LE(0));
}

export async function* readZipMembers(
  source: PackedBytes,
  limit: UnpackLimit,
): AsyncGenerator<ArchiveMember, void, void> {
  try {
    yield* readMembers(source, limit);
  } finally {
    await source.close();
  }
}

async function* readMembers(source: PackedBytes, limit: UnpackLimit): AsyncGenerator<ArchiveMember, void, void> {
  for (;;) {
    const signature = (await source.take(4)).readUInt32LE(0);
    if (DIRECTORY.includes(signature)) return;
    if (signature !== MEMBER) throw new BrokenInput('its ZIP archive is damaged');
    const head = await source.take(26);
    const flags = head.readUInt16LE(2);
    const method = head.readUInt16LE(4);
    const sizeBytes = head.readUInt32LE(14);
    const name = (await source.take(head.readUInt16LE(22))).toString();
    const extra = await source.take(head.readUInt16LE(24));
    // Bit 3: checksum and sizes follow the data.
    const hasDescriptor = (flags & 8) !== 0;
    if ((flags & 1) !== 0) throw new BrokenInput(`${name} in it is encrypted`);
    if (method !== STORED && method !== DEFLATED)
      throw new BrokenInput(`${name} in it is packed by a method that is not read`);
    if (method === STORED && (hasDescriptor || sizeBytes === UNKNOWN_SIZE)) {
      throw new BrokenInput(`${name} in it does not say where it ends`);
    }
    const content = method === STORED ? readStored(source, sizeBytes) : inflateRaw(source);
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
    const expected = hasDescriptor ? await readDescriptor(source, hasLongSizes(extra)) : head.readUInt32LE(10);
    if (crc !== expected) throw new BrokenInput(`${name} in it does not match its checksum`);
  }
}

/** The same bytes, but a reader that stops early does not end `content`. */
export async function* lend(content: AsyncGenerator<Buffer>): AsyncGenerator<Buffer, void, void> {
  for (let next = await content.next(); next.done !== true; next = await content.next()) yield next.value;
}

export async function* readStored(source: PackedBytes, sizeBytes: number): AsyncGenerator<Buffer, void, void> {
  for (let left = sizeBytes; left > 0; ) {
    const bytes = await source.takeSome(1, Math.min(left, STEP_BYTES));
    if (bytes.length === 0) throw new CutOff();
    left -= bytes.length;
    yield bytes;
  }
}

/** Some packers leave the signature out. @returns the checksum */
async function readDescriptor(source: PackedBytes, hasLongSizes: boolean): Promise<number> {
  let crc = (await source.take(4)).readUInt32LE(0);
  if (crc === DESCRIPTOR) crc = (await source.take(4)).readUInt32LE(0);
  await source.take(hasLongSizes ? 16 : 8);
  return crc;
}

/** Whether the extra fields hold sizes of 8 bytes (ZIP64). */
function hasLongSizes(extra: Buffer): boolean {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === 1) return true;
  }
  return false;
}
