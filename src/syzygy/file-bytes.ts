/**
 * The bytes of table files, read when they are asked for. A small file is kept whole; of a larger one, and of all once the
 * room for whole files is spent, only pages are kept, in one list of the pages used last. Node cannot map files into
 * memory; the operating system keeps what was read lately all the same, so that a page costs a copy and seldom a disk.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { DamagedTable } from './damage.js';

const PAGE_BYTES = 16384;

export interface FileMemoryLimits {
  /** Larger files are read by pages. */
  readonly wholeFileBytes: number;
  /** All whole files together. */
  readonly wholeBytes: number;
  readonly pages: number;
  readonly openFiles: number;
}

const DEFAULT_LIMITS: FileMemoryLimits = {
  wholeFileBytes: 16 * 2 ** 20,
  wholeBytes: 128 * 2 ** 20,
  pages: 2048,
  openFiles: 64,
};

/** What all files of one set of tables share. */
export class FileMemory {
  wholeBytesLeft: number;
  private readonly pages = new Map<string, Uint8Array>();
  private readonly descriptors = new Map<string, number>();

  constructor(readonly limits: FileMemoryLimits = DEFAULT_LIMITS) {
    this.wholeBytesLeft = limits.wholeBytes;
  }

  getPage(path: string, number: number): Uint8Array {
    const key = `${number}:${path}`;
    const { pages } = this;
    let page = pages.get(key);
    if (page === undefined) {
      if (pages.size >= this.limits.pages) pages.delete(pages.keys().next().value ?? '');
      page = new Uint8Array(PAGE_BYTES);
      readSync(this.open(path), page, 0, PAGE_BYTES, number * PAGE_BYTES);
    } else {
      pages.delete(key);
    }
    pages.set(key, page);
    return page;
  }

  close(): void {
    for (const descriptor of this.descriptors.values()) closeSync(descriptor);
    this.descriptors.clear();
    this.pages.clear();
  }

  private open(path: string): number {
    const { descriptors } = this;
    let descriptor = descriptors.get(path);
    if (descriptor !== undefined) return descriptor;
    const oldest = descriptors.entries().next();
    if (descriptors.size >= this.limits.openFiles && oldest.done !== true) {
      closeSync(oldest.value[1]);
      descriptors.delete(oldest.value[0]);
    }
    descriptor = openSync(path, 'r');
    descriptors.set(path, descriptor);
    return descriptor;
  }
}

export class FileBytes {
  readonly sizeBytes: number;
  /** Where the bytes asked for last stand: from what `seek` returned on. */
  bytes: Uint8Array<ArrayBufferLike>;
  private readonly isWhole: boolean;
  private scratch: Uint8Array<ArrayBufferLike> = new Uint8Array(0);
  private pageNumber = -1;
  private page: Uint8Array<ArrayBufferLike> = new Uint8Array(0);

  constructor(
    private readonly path: string,
    private readonly memory: FileMemory,
  ) {
    this.sizeBytes = statSync(path).size;
    this.isWhole = this.sizeBytes <= memory.limits.wholeFileBytes && this.sizeBytes <= memory.wholeBytesLeft;
    if (this.isWhole) memory.wholeBytesLeft -= this.sizeBytes;
    this.bytes = this.isWhole ? readFileSync(path) : this.scratch;
    if (this.isWhole && this.bytes.length !== this.sizeBytes) throw new DamagedTable('it changes while it is read');
  }

  /** A copy of the first bytes. */
  readHead(length: number): Uint8Array {
    const count = Math.min(length, this.sizeBytes);
    const start = this.seek(0, count);
    return this.bytes.slice(start, start + count);
  }

  /** @returns the index in `bytes` at which the `length` bytes from `offset` on begin, until the next call */
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
      this.page = this.memory.getPage(this.path, number);
      this.pageNumber = number;
    }
    return this.page;
  }
}
