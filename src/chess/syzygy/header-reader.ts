/** Reads the header of a table file from front to back. Numbers are little-endian. */

import { DamagedTable } from './file-bytes.js';

/** The readers throw DamagedTable past the end of the header. */
export class HeaderReader {
  offset = 0;

  constructor(private readonly bytes: Uint8Array) {}

  readByte(): number {
    this.need(1);
    return this.bytes[this.offset++];
  }

  readUint16(): number {
    this.need(2);
    const { bytes, offset } = this;
    this.offset += 2;
    return bytes[offset] | (bytes[offset + 1] << 8);
  }

  readUint32(): number {
    return this.readUint16() + 65536 * this.readUint16();
  }

  /** Skips to the next multiple of `unit`. */
  alignTo(unit: number): void {
    this.offset = Math.ceil(this.offset / unit) * unit;
  }

  private need(count: number): void {
    if (this.offset + count > this.bytes.length) throw new DamagedTable('it ends in the middle of its head');
  }
}
