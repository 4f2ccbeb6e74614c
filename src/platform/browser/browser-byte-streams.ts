/** gzip by the browser's Compression Streams, SHA-256 by SubtleCrypto. */
import type { ByteChunks } from '../platform-ports.js';

export type { ByteChunks } from '../platform-ports.js';

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
