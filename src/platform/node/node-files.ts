/** Files over node:fs, and what is wrong with them in words for the user: Node's own messages name system calls. */
import { createReadStream } from 'node:fs';
import { open, readFile as readWholeFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';

const CHUNK_BYTES = 1 << 20;

export function readFile(path: string): Promise<Uint8Array> {
  return readWholeFile(path);
}

export function streamFile(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

export async function getFileSize(path: string): Promise<number> {
  return (await stat(path)).size;
}

export async function readFilePart(path: string, position: number, length: number): Promise<Uint8Array> {
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
  return basename(path);
}

export function describeReadFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such file');
}

export function describeWriteFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such folder');
}

function describeFailure({ code, message }: NodeJS.ErrnoException, whatIsMissing: string): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return whatIsMissing;
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'that is not permitted';
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return message;
  }
}
