/** gzip by the browser's Compression Streams, deflate by pako, SHA-256 by SubtleCrypto. */
import type { ByteChunks, Inflated } from '../platform-ports.js';

export type { ByteChunks } from '../platform-ports.js';

import { Z_BUF_ERROR, Z_NO_FLUSH, Z_OK, Z_STREAM_END, ZStream, zlibInflate, zlibInflateInit2 } from 'pako';

export async function computeSha256(chunks: ByteChunks): Promise<string> {
  // SubtleCrypto has no streaming, and refuses shared memory.
  const bytes = await joinChunks(chunks);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function* gunzip(chunks: ByteChunks): AsyncIterable<Uint8Array> {
  const compressed = new Blob([await joinChunks(chunks)]).stream();
  const reader = compressed.pipeThrough(new DecompressionStream('gzip')).getReader();
  for (;;) {
    const piece = await reader.read().catch((error: unknown) => {
      throw Object.assign(new Error(String(error)), { code: findZlibCode(String(error)) });
    });
    if (piece.done) return;
    yield piece.value;
  }
}

/** The port promises zlib's error codes; browsers have messages of their own instead. */
function findZlibCode(message: string): string {
  return /incomplete|truncated|end of|finished/i.test(message) ? 'Z_BUF_ERROR' : 'Z_DATA_ERROR';
}

async function joinChunks(chunks: ByteChunks): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

// By pako, because browsers' own decompression drops what it unpacked when it meets damage, and does not say where the data end.

const CHUNK_BYTES = 1 << 18;
/** A window of 32 KiB; negative = no header of zlib. */
const RAW_WINDOW = -15;

export class Inflater {
  private readonly stream = new ZStream();

  constructor() {
    zlibInflateInit2(this.stream, RAW_WINDOW);
  }

  async inflate(step: Uint8Array): Promise<Inflated | null> {
    const { stream } = this;
    const pieces: Uint8Array[] = [];
    Object.assign(stream, { input: step, next_in: 0, avail_in: step.length });
    for (;;) {
      if (stream.avail_out === 0)
        Object.assign(stream, { output: new Uint8Array(CHUNK_BYTES), next_out: 0, avail_out: CHUNK_BYTES });
      const from = stream.next_out;
      const status = zlibInflate(stream, Z_NO_FLUSH);
      if (stream.next_out > from) pieces.push(stream.output.subarray(from, stream.next_out));
      const isAtEnd = status === Z_STREAM_END;
      if (status !== Z_OK && status !== Z_BUF_ERROR && !isAtEnd) return null;
      if (isAtEnd || (stream.avail_in === 0 && stream.avail_out > 0))
        return { pieces, isAtEnd, unusedBytes: stream.avail_in };
    }
  }

  close(): void {}
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

export function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) crc = TABLE[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
