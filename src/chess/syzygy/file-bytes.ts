/**
 * Reads bytes of table files on demand. A small file stays in memory whole, as long as there is room. Of other files it
 * keeps pages, and drops those unused for longest. Node cannot map files into memory, but the operating system caches
 * what was read lately, so loading a page again usually costs a copy and no disk access.
 */
import { closeFile, getSize, openFile, readInto, readWholeFile } from '#platform/files.js';

const PAGE_BYTES = 16384;

export interface FileMemoryLimits {
  /** Size up to which a file is kept whole. */
  readonly wholeFileBytes: number;
  /** Limit for all whole files together. */
  readonly wholeBytes: number;
  /** Number of pages to keep. */
  readonly pages: number;
  /** Number of files to keep open for reading pages. */
  readonly openFiles: number;
}

const DEFAULT_LIMITS: FileMemoryLimits = {
  wholeFileBytes: 16 * 2 ** 20,
  wholeBytes: 128 * 2 ** 20,
  pages: 2048,
  openFiles: 64,
};

/** The pages, open files and memory limit that all files of a set of tables share. */
export class FileMemory {
  wholeBytesLeft: number;
  private readonly pages = new Map<string, Uint8Array>();
  private readonly descriptors = new Map<string, number>();

  constructor(readonly limits: FileMemoryLimits = DEFAULT_LIMITS) {
    this.wholeBytesLeft = limits.wholeBytes;
  }

  /** Throws DamagedTable if the file ends before the page's `length` bytes. */
  getPage(path: string, number: number, length: number): Uint8Array {
    const key = `${number}:${path}`;
    const { pages } = this;
    let page = pages.get(key);
    if (page === undefined) {
      if (pages.size >= this.limits.pages) pages.delete(pages.keys().next().value ?? '');
      page = new Uint8Array(PAGE_BYTES);
      const count = readInto(this.open(path), page, 0, length, number * PAGE_BYTES);
      if (count !== length) throw new DamagedTable('it changes while it is read');
    } else {
      pages.delete(key);
    }
    pages.set(key, page);
    return page;
  }

  close(): void {
    for (const descriptor of this.descriptors.values()) closeFile(descriptor);
    this.descriptors.clear();
    this.pages.clear();
  }

  private open(path: string): number {
    const { descriptors } = this;
    const descriptor = descriptors.get(path) ?? openFile(path, 'r');
    // The file that was read last is the last of the map.
    descriptors.delete(path);
    descriptors.set(path, descriptor);
    const [unusedLongest = path] = descriptors.keys();
    if (descriptors.size > this.limits.openFiles) {
      closeFile(descriptors.get(unusedLongest) as number);
      descriptors.delete(unusedLongest);
    }
    return descriptor;
  }
}

/** One file. Read bytes with `seek`, then index `bytes`. */
export class FileBytes {
  readonly sizeBytes: number;
  /** Holds the bytes of the last `seek`, from the index that it returned. */
  bytes: Uint8Array<ArrayBufferLike>;
  private readonly isWhole: boolean;
  private scratch: Uint8Array<ArrayBufferLike> = new Uint8Array(0);
  private pageNumber = -1;
  private page: Uint8Array<ArrayBufferLike> = new Uint8Array(0);

  constructor(
    private readonly path: string,
    private readonly memory: FileMemory,
  ) {
    this.sizeBytes = getSize(path);
    this.isWhole = this.sizeBytes <= memory.limits.wholeFileBytes && this.sizeBytes <= memory.wholeBytesLeft;
    if (this.isWhole) memory.wholeBytesLeft -= this.sizeBytes;
    this.bytes = this.isWhole ? readWholeFile(path) : this.scratch;
    if (this.isWhole && this.bytes.length !== this.sizeBytes) throw new DamagedTable('it changes while it is read');
  }

  /** A copy of the first `length` bytes, or of the whole file if it is shorter. */
  readHead(length: number): Uint8Array {
    const count = Math.min(length, this.sizeBytes);
    const start = this.seek(0, count);
    return this.bytes.slice(start, start + count);
  }

  /**
   * Loads `length` bytes of the file from `offset` on. Returns the index in `bytes` at which they begin; the next call
   * makes it invalid. Throws DamagedTable if the file ends before.
   */
  seek(offset: number, length: number): number {
    if (offset < 0 || offset + length > this.sizeBytes) throw new DamagedTable('it ends too early');
    if (this.isWhole) return offset;
    const first = Math.floor(offset / PAGE_BYTES);
    const start = offset - first * PAGE_BYTES;
    if (start + length <= PAGE_BYTES) {
      this.bytes = this.getPage(first);
      return start;
    }
    if (this.scratch.length < length) this.scratch = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const number = Math.floor((offset + done) / PAGE_BYTES);
      const from = offset + done - number * PAGE_BYTES;
      const count = Math.min(length - done, PAGE_BYTES - from);
      this.scratch.set(this.getPage(number).subarray(from, from + count), done);
      done += count;
    }
    this.bytes = this.scratch;
    return 0;
  }

  private getPage(number: number): Uint8Array {
    if (number !== this.pageNumber) {
      const length = Math.min(PAGE_BYTES, this.sizeBytes - number * PAGE_BYTES);
      this.page = this.memory.getPage(this.path, number, length);
      this.pageNumber = number;
    }
    return this.page;
  }
}

/**
 * Says what is wrong with a table file. The parsers of this room throw it; `TableSet` catches it and ignores the file
 * from then on.
 */
export class DamagedTable extends Error {}
