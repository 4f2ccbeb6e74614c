/**
 * Unpacks gzip, zstd and bzip2, told apart by their first bytes, in small pieces; refuses what unpacks to more than any file of games.
 * Everything before a damaged place is handed on; then BrokenInput says what could not be read.
 */
import { BrokenInput, isGzip, isLfsPointer } from '../../base/util/index.js';
import { isBzip2, unpackBzip2 } from './bzip2.js';
import { unpackGzip } from './gzip.js';
import { type Chunks, PackedBytes } from './packed-bytes.js';
import type { UnpackLimit } from './unpack-limit.js';
import { isZstd, unpackZstd } from './zstd.js';

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
