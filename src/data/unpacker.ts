/**
 * zstd and bzip2, which Node.js 20 cannot unpack, behind one interface: the caller pushes compressed bytes in pieces, and a sink
 * receives the unpacked bytes before `push` returns. The first bytes of a file decide its format.
 */
import { Decompress } from 'fzstd';
import unbzip2Stream from 'unbzip2-stream';

export interface Unpacker {
  /** Throws when the bytes are damaged or, at the last piece, end too early. */
  push(bytes: Uint8Array, isLast: boolean): void;
}

export type UnpackerFactory = (sink: (part: Uint8Array) => void) => Unpacker;

/** Bytes at the beginning of a file that tell its format. */
export const UNPACKER_HEAD_BYTES = 4;

const ZSTD_MAGIC = '28b52ffd';
/** "BZh" and the size of a block, in units of 100,000 bytes. */
const BZIP2_MAGIC = /^425a683[1-9]$/;

/** @returns null when the bytes are in neither format */
export function findUnpacker(head: Uint8Array): UnpackerFactory | null {
  const magic = Buffer.from(head.subarray(0, UNPACKER_HEAD_BYTES)).toString('hex');
  if (magic === ZSTD_MAGIC) return (sink) => new Decompress(sink);
  return BZIP2_MAGIC.test(magic) ? createBzip2Unpacker : null;
}

/** Files of several streams, as parallel packers write them, are read to their end. */
function createBzip2Unpacker(sink: (part: Uint8Array) => void): Unpacker {
  const stream = unbzip2Stream();
  let damage: Error | undefined;
  stream.on('data', sink);
  stream.on('error', (error) => {
    damage = error instanceof Error ? error : new Error(String(error));
  });
  return {
    push(bytes, isLast) {
      if (bytes.length > 0) stream.write(bytes);
      if (isLast && damage === undefined) stream.end();
      if (damage !== undefined) throw damage;
    },
  };
}
