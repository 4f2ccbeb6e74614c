/** Unpacks gzip (RFC 1952), member by member, and deflate data (RFC 1951), in pieces of at most a megabyte. */
import { crc32, Inflater } from '#platform/byte-streams.js';
import { BrokenInput, concatBytes, isGzip } from '../../base/util/index.js';
import { CutOff, type PackedBytes, readNumber } from './packed-bytes.js';
import type { UnpackLimit } from './unpack-limit.js';

/** Packed bytes a step, which inflate to a thousand times as many at most; a damaged step is lost, so small files take small ones. */
const FIRST_PACKED_BYTES = 1 << 11;
const PACKED_BYTES = 1 << 14;
const SMALL_FILE_BYTES = 1 << 17;
const PIECE_BYTES = 1 << 18;
const MEMBER_HEAD_BYTES = 10;
const LONGEST_NAME = 1 << 16;

export async function* unpackGzip(source: PackedBytes, limit: UnpackLimit): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    limit.countPart();
    const head = await source.takeSome(2, 2);
    if (!isGzip(head)) {
      // Tapes and some packers pad with zeros.
      let rest = head;
      while (rest.length > 0 && rest.every((byte) => byte === 0)) rest = await source.takeSome(1, PIECE_BYTES);
      if (rest.length === 0) return;
      throw new BrokenInput('what follows the end of its gzip data is not gzip');
    }
    source.giveBack(head);
    yield* unpackMember(source);
  }
}

async function* unpackMember(source: PackedBytes): AsyncGenerator<Uint8Array, void, void> {
  const head = await source.take(MEMBER_HEAD_BYTES);
  const flags = head[3];
  if (head[2] !== 8 || (flags & 0xe0) !== 0) throw new BrokenInput('its gzip data are damaged');
  if ((flags & 4) !== 0) await source.take(await source.takeNumber(2));
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
  if (readNumber(end, 0, 4) !== crc || readNumber(end, 4, 4) !== size) {
    throw new BrokenInput('its content does not match its checksum');
  }
}

async function skipText(source: PackedBytes): Promise<void> {
  const bytes = await source.peek(LONGEST_NAME);
  const end = bytes.indexOf(0);
  if (end >= 0) await source.take(end + 1);
  else throw bytes.length < LONGEST_NAME ? source.findEnd() : new BrokenInput('its gzip data are damaged');
}

/** Deflate data up to their end. Throws BrokenInput, or the source's error, after everything that it unpacked before. */
export async function* inflateRaw(source: PackedBytes): AsyncGenerator<Uint8Array, void, void> {
  const inflater = new Inflater();
  let pieces: Uint8Array[] = [];
  let pieceBytes = 0;
  let problem: unknown = null;
  try {
    for (let fed = 0, isAtEnd = false; !isAtEnd && problem === null; ) {
      const stepBytes = fed < SMALL_FILE_BYTES ? FIRST_PACKED_BYTES : PACKED_BYTES;
      const step = await source.takeSome(stepBytes, stepBytes).catch((error: unknown) => {
        problem = error;
        return new Uint8Array(0);
      });
      fed += step.length;
      const inflated = await inflater.inflate(step);
      if (step.length === 0 && inflated?.isAtEnd !== true) problem ??= new CutOff();
      else if (inflated === null) problem = new BrokenInput('its packed data are damaged');
      else {
        ({ isAtEnd } = inflated);
        if (isAtEnd) source.giveBack(step.subarray(step.length - inflated.unusedBytes));
        pieces.push(...inflated.pieces);
        pieceBytes = pieces.reduce((sum, { length }) => sum + length, 0);
      }
      if (pieceBytes < PIECE_BYTES && !isAtEnd && problem === null) continue;
      if (pieceBytes > 0) yield pieces.length === 1 ? pieces[0] : concatBytes(pieces);
      pieces = [];
      pieceBytes = 0;
    }
  } finally {
    inflater.close();
  }
  if (problem !== null) throw problem;
}
