/**
 * gzip and SHA-256 over node:zlib and node:crypto, which are loaded at first use, so that they do not delay `uciok`. zlib works
 * in libuv's threads and does not block the event loop.
 */
import type { ByteChunks } from '../platform-ports.js';

export type { ByteChunks } from '../platform-ports.js';

const CHUNK_BYTES = 1 << 20;

export async function computeSha256(chunks: ByteChunks): Promise<string> {
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

export async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const [zlib, { promisify }] = await Promise.all([import('node:zlib'), import('node:util')]);
  return promisify(zlib.gzip)(bytes);
}

export async function* gunzip(chunks: ByteChunks): AsyncIterable<Uint8Array> {
  const [{ createGunzip }, { Readable }] = await Promise.all([import('node:zlib'), import('node:stream')]);
  const inflater = createGunzip({ chunkSize: CHUNK_BYTES });
  const source = Readable.from(chunks);
  source.on('error', (error) => inflater.destroy(error));
  source.pipe(inflater);
  try {
    yield* inflater;
  } finally {
    source.destroy();
    inflater.destroy();
  }
}
