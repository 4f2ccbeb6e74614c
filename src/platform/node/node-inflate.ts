/** Deflate data by Node's zlib, which is twice as fast as a reader in JavaScript. */
import { createInflateRaw } from 'node:zlib';
import type { Inflated } from '../platform-ports.js';

export { crc32 } from 'node:zlib';

const CHUNK_BYTES = 1 << 18;

export class Inflater {
  private readonly stream = createInflateRaw({ chunkSize: CHUNK_BYTES });
  private pieces: Uint8Array[] = [];
  private hasFailed = false;
  private fedBytes = 0;
  /** The callback of `write` is not called when zlib fails or has met the end of the data. */
  private readonly ended: Promise<unknown>;

  constructor() {
    const { stream } = this;
    stream.on('data', (piece: Uint8Array) => this.pieces.push(piece));
    stream.on('error', () => {
      this.hasFailed = true;
    });
    this.ended = new Promise((resolve) => stream.once('close', resolve).once('end', resolve));
  }

  async inflate(step: Uint8Array): Promise<Inflated | null> {
    this.fedBytes += step.length;
    if (step.length === 0) this.stream.end();
    const written = new Promise((resolve) => step.length > 0 && this.stream.write(step, resolve));
    await Promise.race([written, this.ended]);
    const { pieces } = this;
    this.pieces = [];
    if (this.hasFailed) return null;
    return { pieces, isAtEnd: this.stream.readableEnded, unusedBytes: this.fedBytes - this.stream.bytesWritten };
  }

  close(): void {
    this.stream.destroy();
  }
}
