/**
 * Input files of any size as a stream of chunks, gunzipped when the name ends in `.gz`, and as lines. Lines are read as
 * latin1: everything that we look at is ASCII, and a byte stays a byte.
 */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

const CHUNK_BYTES = 1 << 18;
const NEWLINE = 10;

/** @param onBytes told how many bytes of the file itself were read; throws what the file system or zlib throws */
export async function* readChunks(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  file.on('data', (chunk) => onBytes(chunk.length));
  if (!path.endsWith('.gz')) {
    yield* file as AsyncIterable<Buffer>;
    return;
  }
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => gunzip.destroy(error));
  try {
    yield* file.pipe(gunzip) as AsyncIterable<Buffer>;
  } finally {
    file.destroy();
  }
}

/** The complete lines of each chunk, a list at a time; a last line without newline counts. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end);
      yield (rest.length === 0 ? tail : Buffer.concat([...rest, tail])).toString('latin1');
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString('latin1');
}
