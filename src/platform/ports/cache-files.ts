/**
 * Cache files: `#platform/cache-files.js`. They save work and may be deleted at any time. In Node they are in the user's cache
 * folder, in a page in Cache Storage. A file appears complete or not at all.
 */

export interface CacheFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was written or touched last. */
  readonly modifiedAtMs: number;
}

/** A file open for reading, or for writing and reading what was written. */
export interface OpenCacheFile {
  getSize(): Promise<number>;
  /** At most `length` bytes from `position` on; fewer where the file ends. The next call overwrites them. */
  read(position: number, length: number): Promise<Uint8Array>;
}

export interface NewCacheFile extends OpenCacheFile {
  write(bytes: Uint8Array, position: number): Promise<void>;
}

export interface CacheFilePort {
  /** The place for files of one kind; undefined when nothing can be kept. */
  findCacheFolder(kind: string): string | undefined;
  /** Files without folders; none where the folder cannot be read. */
  listCacheFiles(folder: string): Promise<CacheFile[]>;
  /** Rejects when it is not there. */
  readCacheFile(folder: string, name: string): Promise<Uint8Array>;
  /** Rejects when it is not there. */
  withCacheFile<Answer>(folder: string, name: string, use: (file: OpenCacheFile) => Promise<Answer>): Promise<Answer>;
  /** Marks the file as used now, if it exists. */
  touchCacheFile(folder: string, name: string): Promise<void>;
  /** Removes it if that is possible. */
  removeCacheFile(folder: string, name: string): Promise<void>;
  /**
   * Writes a file, and creates the folder if it is missing.
   * @returns whether the file was written: a full or read-only disk is no error. Other errors of `fill` are passed on.
   */
  writeCacheFile(folder: string, name: string, fill: (file: NewCacheFile) => Promise<void>): Promise<boolean>;
}
