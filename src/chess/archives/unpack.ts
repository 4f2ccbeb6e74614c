/**
 * Unpacks gzip, zstd and bzip2, told apart by their first bytes, in small pieces; refuses what unpacks to more than any file of games.
 * Everything before a damaged place is handed on; then BrokenInput says what could not be read.
 */
import { crc32, Inflater } from '#platform/byte-streams.js';
import { BrokenInput, concatBytes, isGzip, isLfsPointer } from '../../base/util/index.js';
import { isBzip2, unpackBzip2 } from './bzip2.js';
import { type Chunks, CutOff, PackedBytes, readNumber } from './packed-bytes.js';
import type { UnpackLimit } from './unpack-limit.js';
import { isZstd, unpackZstd } from './zstd.js';

// gzip (RFC 1952), member by member, and deflate data (RFC 1951), in pieces of at most a megabyte.

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

/** Enough for `findUnpacker`. */
const HEAD_BYTES = 24;
type Unpacker = (source: PackedBytes, limit: UnpackLimit) => AsyncGenerator<Uint8Array, void, void>;

const CONVERT_BOOK = 'which is not read: save its lines as PGN with that program, or convert it to Polyglot (.bin)';
/** Formats that are recognised by their first bytes and refused with a sentence. */
const OTHERS: readonly { readonly magic: string; readonly says: string }[] = [
  { magic: 'fd377a585a00', says: 'it is packed with xz, which is not read: unpack it with "xz -d" first' },
  { magic: '5d0000', says: 'it is packed with lzma, which is not read: unpack it with "xz -d" first' },
  { magic: '1f9d', says: 'it is packed with compress, which is not read: unpack it with "gzip -d" first' },
  { magic: '4c5a4950', says: 'it is packed with lzip, which is not read: unpack it with "lzip -d" first' },
  { magic: '377abcaf271c', says: 'it is a 7z archive, which is not read: unpack it first' },
  { magic: '526172211a07', says: 'it is a RAR archive, which is not read: unpack it first' },
  { magic: '04224d18', says: 'it is packed with lz4, which is not read: unpack it with "lz4 -d" first' },
  { magic: '41424b00', says: `it is an opening book of Arena (.abk), ${CONVERT_BOOK}` },
  { magic: '424f4f21', says: `it is an opening book of Chessmaster (.obk), ${CONVERT_BOOK}` },
];

/** Opening books without a magic number, by their endings. */
const BOOKS: ReadonlyMap<string, string> = new Map([
  ['abk', 'Arena'],
  ['ctg', 'ChessBase'],
  ['cto', 'ChessBase'],
  ['ctb', 'ChessBase'],
  ['bkt', 'Shredder'],
  ['obk', 'Chessmaster'],
]);

/** What a file is that its name and its bytes tell to be an opening book of another program; null for any other. @param head null = it is not read */
export function nameOtherBook(path: string, head: Uint8Array | null): string | null {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const program = head === null || head.includes(0) ? BOOKS.get(ending) : undefined;
  return program === undefined ? null : `it is an opening book of ${program} (.${ending}), ${CONVERT_BOOK}`;
}

/** @param chunks of a file, or of a file in an archive; those of the file itself go through `limit.countPacked` */
export async function* unpack(chunks: Chunks, limit: UnpackLimit): AsyncGenerator<Uint8Array, void, void> {
  const source = new PackedBytes(chunks);
  try {
    const unpacker = findUnpacker(await source.peek(HEAD_BYTES));
    if (unpacker === null) {
      yield* source.rest();
      return;
    }
    for await (const piece of unpacker(source, limit)) {
      limit.countUnpacked(piece.length);
      yield piece;
    }
  } finally {
    await source.close();
  }
}

/** Null: the bytes are not packed, as far as we know. Throws BrokenInput for packings that are not read. */
function findUnpacker(head: Uint8Array): Unpacker | null {
  if (isGzip(head)) return unpackGzip;
  if (isZstd(head)) return unpackZstd;
  if (isBzip2(head)) return unpackBzip2;
  const hex = Array.from(head, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const other = OTHERS.find(({ magic }) => hex.startsWith(magic));
  if (other !== undefined) throw new BrokenInput(other.says);
  if (isLfsPointer(head)) {
    throw new BrokenInput('it is a pointer of Git LFS, not the file itself: fetch the file with "git lfs pull"');
  }
  return null;
}
