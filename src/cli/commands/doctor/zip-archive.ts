/**
 * Members of a zip archive on disk (a Python wheel and a NuGet package are such archives), read one at a time without
 * holding the archive in memory. Knows the two methods that are in use, stored and deflated, and no 64-bit archives.
 * Source of the format: PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

export interface ZipMember {
  readonly name: string;
  readonly sizeBytes: number;
  readonly compressedBytes: number;
  readonly isDeflated: boolean;
  /** Of its local header. */
  readonly offset: number;
}

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65535;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const DEFLATED = 8;

/** Rejects with one sentence when it is not a zip archive. */
export async function listZipMembers(path: string): Promise<ZipMember[]> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tail = await readAt(file, Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES), size);
    const end = findEnd(tail);
    if (end < 0) throw new Error(`${path} is not a zip archive`);
    const count = tail.readUInt16LE(end + 10);
    const start = tail.readUInt32LE(end + 16);
    return readEntries(await readAt(file, start, start + tail.readUInt32LE(end + 12)), count, path);
  } finally {
    await file.close();
  }
}

export async function extractZipMember(path: string, member: ZipMember, target: string): Promise<void> {
  const file = await open(path, 'r');
  const local = await readAt(file, member.offset, member.offset + LOCAL_BYTES).finally(() => file.close());
  const start = member.offset + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28);
  const source = createReadStream(path, { start, end: start + member.compressedBytes - 1 });
  const sink = createWriteStream(target, { mode: 0o755 });
  if (member.isDeflated) await pipeline(source, createInflateRaw(), sink);
  else await pipeline(source, sink);
  if (sink.bytesWritten !== member.sizeBytes) throw new Error(`${member.name} in ${path} is damaged`);
}

async function readAt(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
  return bytes.subarray(0, bytesRead);
}

function findEnd(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at--) if (tail.readUInt32LE(at) === END_SIGNATURE) return at;
  return -1;
}

function readEntries(directory: Buffer, count: number, path: string): ZipMember[] {
  const members: ZipMember[] = [];
  for (let at = 0, i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw new Error(`The zip archive ${path} is damaged`);
    }
    const nameBytes = directory.readUInt16LE(at + 28);
    members.push({
      name: directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      sizeBytes: directory.readUInt32LE(at + 24),
      compressedBytes: directory.readUInt32LE(at + 20),
      isDeflated: directory.readUInt16LE(at + 10) === DEFLATED,
      offset: directory.readUInt32LE(at + 42),
    });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return members;
}
