/**
 * Cache files of a page, in its origin's Cache Storage: a folder is a Cache, a file is a Response in it. The files are kept after the
 * visit, until the browser deletes them all at once. Private windows and pages without a secure context have none.
 */
import type { CacheFile, NewCacheFile, OpenCacheFile } from '../platform-ports.js';

export type { CacheFile, NewCacheFile, OpenCacheFile } from '../platform-ports.js';

/** File names become addresses below this one, which is never requested. */
const BASE = 'https://sardonyx.invalid/';
const MODIFIED = 'x-modified-ms';

export function findCacheFolder(kind: string): string | undefined {
  return typeof caches === 'undefined' ? undefined : `sardonyx-${kind}`;
}

export async function listCacheFiles(folder: string): Promise<CacheFile[]> {
  try {
    const cache = await caches.open(folder);
    const files: CacheFile[] = [];
    for (const request of await cache.keys()) {
      const headers = (await cache.match(request))?.headers;
      const name = decodeURIComponent(request.url.slice(BASE.length));
      const [bytes, modifiedAtMs] = ['content-length', MODIFIED].map((header) => Number(headers?.get(header)));
      files.push({ name, bytes, modifiedAtMs });
    }
    return files;
  } catch {
    return [];
  }
}

export async function readCacheFile(folder: string, name: string): Promise<Uint8Array> {
  const found = await (await caches.open(folder)).match(getAddress(name));
  if (found === undefined) throw new Error(`There is no cache file ${name}`);
  return new Uint8Array(await found.arrayBuffer());
}

export async function withCacheFile<Answer>(
  folder: string,
  name: string,
  use: (file: OpenCacheFile) => Promise<Answer>,
): Promise<Answer> {
  return use(new MemoryFile(await readCacheFile(folder, name)));
}

export async function touchCacheFile(folder: string, name: string): Promise<void> {
  try {
    await store(folder, name, await readCacheFile(folder, name));
  } catch {
    // The file is missing, or cannot be written again.
  }
}

export async function removeCacheFile(folder: string, name: string): Promise<void> {
  try {
    await (await caches.open(folder)).delete(getAddress(name));
  } catch {
    // The file stays.
  }
}

export async function writeCacheFile(
  folder: string,
  name: string,
  fill: (file: NewCacheFile) => Promise<void>,
): Promise<boolean> {
  const file = new MemoryFile(new Uint8Array(0));
  await fill(file);
  try {
    await store(folder, name, file.content);
    return true;
  } catch {
    return false;
  }
}

async function store(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const headers = { 'content-length': String(bytes.length), [MODIFIED]: String(Date.now()) };
  // Copied, because a Response does not accept shared memory.
  await (await caches.open(folder)).put(getAddress(name), new Response(bytes.slice(), { headers }));
}

function getAddress(name: string): string {
  return BASE + encodeURIComponent(name);
}

class MemoryFile implements NewCacheFile {
  private length: number;

  constructor(private bytes: Uint8Array) {
    this.length = bytes.length;
  }

  get content(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  async getSize(): Promise<number> {
    return this.length;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    return this.content.subarray(position, position + length);
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    const end = position + bytes.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      larger.set(this.content);
      this.bytes = larger;
    }
    this.bytes.set(bytes, position);
    this.length = Math.max(this.length, end);
  }
}
