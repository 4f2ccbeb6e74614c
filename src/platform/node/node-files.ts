/**
 * Files over node:fs: read by path, with error messages for the user, because Node's own name system calls; and
 * tablebases, read synchronously. As in a page, a `blob:` address is content in memory, and the part after `#` is its name.
 */
import { resolveObjectURL } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { open, readFile as readFromDisk, stat } from 'node:fs/promises';
import { basename } from 'node:path';

const CHUNK_BYTES = 1 << 20;

const BLOB = 'blob:';

export async function readFile(path: string): Promise<Uint8Array> {
  return path.startsWith(BLOB) ? new Uint8Array(await findBlob(path).arrayBuffer()) : readFromDisk(path);
}

export function streamFile(path: string): AsyncIterable<Uint8Array> {
  if (path.startsWith(BLOB)) return findBlob(path).stream();
  return createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

export async function getFileSize(path: string): Promise<number> {
  return path.startsWith(BLOB) ? findBlob(path).size : (await stat(path)).size;
}

export async function readFilePart(path: string, position: number, length: number): Promise<Uint8Array> {
  if (path.startsWith(BLOB)) {
    const part = findBlob(path).slice(position, position + length);
    return new Uint8Array(await part.arrayBuffer());
  }
  const file = await open(path, 'r');
  try {
    const bytes = new Uint8Array(length);
    const { bytesRead } = await file.read(bytes, 0, length, position);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export function getFileName(path: string): string {
  if (!path.startsWith(BLOB)) return basename(path);
  return decodeURIComponent(path.slice(path.indexOf('#') + 1));
}

function findBlob(address: string): Blob {
  const blob = resolveObjectURL(address.split('#')[0]);
  if (blob === undefined) throw Object.assign(new Error(`${address} is gone`), { code: 'ENOENT' });
  return blob as Blob;
}

export function describeReadFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such file');
}

export function describeWriteFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such folder');
}

/** By Node's code. */
const FAILURES: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  EACCES: 'that is not permitted',
  EPERM: 'that is not permitted',
  EROFS: 'that is not permitted',
  ENOSPC: 'the disk is full',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the disk reports an error',
};

function describeFailure({ code = '', message }: NodeJS.ErrnoException, whatIsMissing: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return whatIsMissing;
  return FAILURES[code] ?? message;
}

// Tablebase files are read synchronously, because probes happen in the middle of a search. Each function throws Node's errors.

export {
  closeSync as closeFile,
  openSync as openFile,
  readdirSync as listFolder,
  readFileSync as readWholeFile,
  readSync as readInto,
} from 'node:fs';
export { join as joinPath } from 'node:path';

export function getSize(path: string): number {
  return statSync(path).size;
}
