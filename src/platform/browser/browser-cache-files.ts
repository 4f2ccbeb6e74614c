/** No cache files in a page: what they save, models converted from lc0's files, is made anew. */
import type { CacheFile, NewCacheFile, OpenCacheFile } from '../ports/cache-files.js';

export type { CacheFile, NewCacheFile, OpenCacheFile } from '../ports/cache-files.js';

export function findCacheFolder(_kind: string): string | undefined {
  return undefined;
}

export async function listCacheFiles(_folder: string): Promise<CacheFile[]> {
  return [];
}

export function readCacheFile(_folder: string, name: string): Promise<Uint8Array> {
  return Promise.reject(describeAbsence(name));
}

export function withCacheFile<Answer>(
  _folder: string,
  name: string,
  _use: (file: OpenCacheFile) => Promise<Answer>,
): Promise<Answer> {
  return Promise.reject(describeAbsence(name));
}

export async function touchCacheFile(_folder: string, _name: string): Promise<void> {}

export async function removeCacheFile(_folder: string, _name: string): Promise<void> {}

export async function writeCacheFile(
  _folder: string,
  _name: string,
  _fill: (file: NewCacheFile) => Promise<void>,
): Promise<boolean> {
  return false;
}

function describeAbsence(name: string): Error {
  return new Error(`There is no cache file ${name} in a page`);
}
