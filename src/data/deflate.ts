/**
 * Unpacks gzip (RFC 1952), member by member, in pieces of at most a megabyte. Node's own gunzip drops what it unpacked in the step in
 * which it meets damage or bytes behind the last member; here zlib sees the deflate data alone, and everything before is handed on.
 */
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { BrokenInput, isGzip } from '../util/index.js';
import { CutOff, type PackedBytes } from './packed-bytes.js';

/** Packed bytes a step, which inflate to a thousand times as many at most; a damaged step is lost, so small files take small ones. */
const FIRST_STEP_BYTES = 1 << 11;
const STEP_BYTES = 1 << 14;
const SMALL_FILE_BYTES = 1 << 17;
const CHUNK_BYTES = 1 << 18;
const HEAD_BYTES = 10;
const LONGEST_NAME = 1 << 16;

export async function* unpackGzip(source: PackedBytes): AsyncGenerator<Buffer, void, void> {
  for (;;) {
    const head = await source.takeSome(2, 2);
    if (!isGzip(head)) {
      // Tapes and some packers pad with zeros.
      let rest = head;
      while (rest.length > 0 && rest.every((byte) => byte === 0)) rest = await source.takeSome(1, CHUNK_BYTES);
      if (rest.length === 0) return;
      throw new BrokenInput('what follows the end of its gzip data is not gzip');
    }
    source.giveBack(head);
    yield* unpackMember(source);
  }
}

async function* unpackMember(source: PackedBytes): AsyncGenerator<Buffer, void, void> {
  const head = await source.take(HEAD_BYTES);
  const flags = head[3];
  if (head[2] !== 8 || (flags & 0xe0) !== 0) throw new BrokenInput('its gzip data are damaged');
  if ((flags & 4) !== 0) await source.take((await source.take(2)).readUInt16LE(0));
  if ((flags & 8) !== 0) await skipText(source);
  if ((flags & 16) !== 0) await skipText(source);
  if ((flags & 2) !== 0) await source.take(2);
  let crc = 0;
  let size = 0;
  for await (const piece of inflateRaw(source)) {
    crc = crc32(piece, crc);
    size = (size + piece.length) >>> 0;
    yield piece;
  }
  const end = await source.take(8);
  if (end.readUInt32LE(0) !== crc || end.readUInt32LE(4) !== size) {
    throw new BrokenInput('its content does not match its checksum');
  }
}

async function skipText(source: PackedBytes): Promise<void> {
  for (let bytes = 0; (await source.take(1))[0] !== 0; bytes++) {
    if (bytes > LONGEST_NAME) throw new BrokenInput('its gzip data are damaged');
  }
}

/** Deflate data up to their end (RFC 1951). Throws BrokenInput after everything that it unpacked before. */
export async function* inflateRaw(source: PackedBytes): AsyncGenerator<Buffer, void, void> {
  const inflater: InflateRaw = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const pieces: Buffer[] = [];
  let pieceBytes = 0;
  let failure: Error | undefined;
  inflater.on('data', (piece: Buffer) => {
    pieces.push(piece);
    pieceBytes += piece.length;
  });
  inflater.on('error', (error) => {
    failure = error;
  });
  // The callback of `write` is not called when zlib fails or has met the end of the data.
  const ended = new Promise((resolve) => inflater.once('close', resolve).once('end', resolve));
  const takeAll = (): Buffer => {
    pieceBytes = 0;
    return Buffer.concat(pieces.splice(0));
  };
  let fed = 0;
  try {
    while (failure === undefined && !inflater.readableEnded) {
      const stepBytes = fed < SMALL_FILE_BYTES ? FIRST_STEP_BYTES : STEP_BYTES;
      const step = await source.takeSome(stepBytes, stepBytes);
      if (step.length === 0) {
        inflater.end();
        await ended;
      } else {
        fed += step.length;
        await Promise.race([new Promise((resolve) => inflater.write(step, resolve)), ended]);
        const unused = fed - inflater.bytesWritten;
        if (inflater.readableEnded && unused > 0) source.giveBack(step.subarray(step.length - unused));
      }
      if (pieceBytes >= CHUNK_BYTES || (pieceBytes > 0 && (inflater.readableEnded || failure !== undefined)))
        yield takeAll();
    }
    if (failure?.message === 'unexpected end of file') throw new CutOff();
    if (failure !== undefined) throw new BrokenInput('its packed data are damaged');
  } finally {
    inflater.destroy();
  }
}
