/** Cache files in a folder. Each is written under another name and then renamed, so that a killed process leaves none half written. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { CacheFile, NewCacheFile, OpenCacheFile } from '../platform-ports.js';
import { createFolder } from './node-folders.js';

export type { CacheFile, NewCacheFile, OpenCacheFile } from '../platform-ports.js';
export { findCacheFolder } from './node-folders.js';

export async function listCacheFiles(folder: string): Promise<CacheFile[]> {
  const files: CacheFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const info = await stat(join(folder, name)).catch(() => undefined);
    if (info?.isFile()) files.push({ name, bytes: info.size, modifiedAtMs: info.mtimeMs });
  }
  return files;
}

export function readCacheFile(folder: string, name: string): Promise<Uint8Array> {
  return readFile(join(folder, name));
}

export async function withCacheFile<Answer>(
  folder: string,
  name: string,
  use: (file: OpenCacheFile) => Promise<Answer>,
): Promise<Answer> {
  const file = await open(join(folder, name));
  try {
    return await use(new FolderFile(file));
  } finally {
    await file.close();
  }
}

export async function touchCacheFile(folder: string, name: string): Promise<void> {
  const now = new Date();
  await utimes(join(folder, name), now, now).catch(() => undefined);
}

export async function removeCacheFile(folder: string, name: string): Promise<void> {
  await rm(join(folder, name), { force: true }).catch(() => undefined);
}

export async function writeCacheFile(
  folder: string,
  name: string,
  fill: (file: NewCacheFile) => Promise<void>,
): Promise<boolean> {
  const draft = `${name}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    createFolder(folder, 0o700);
  } catch {
    return false;
  }
  try {
    const file = await open(join(folder, draft), 'wx+');
    try {
      await fill(new FolderFile(file));
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(join(folder, draft), join(folder, name));
    return true;
  } catch (error) {
    await removeCacheFile(folder, draft);
    if (error instanceof Error && 'syscall' in error) return false;
    throw error;
  }
}

class FolderFile implements NewCacheFile {
  private buffer = new Uint8Array(0);

  constructor(private readonly file: FileHandle) {}

  async getSize(): Promise<number> {
    return (await this.file.stat()).size;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    if (this.buffer.length < length) this.buffer = new Uint8Array(length);
    const { bytesRead } = await this.file.read(this.buffer, 0, length, position);
    return this.buffer.subarray(0, bytesRead);
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    await this.file.write(bytes, 0, bytes.length, position);
  }
}
