/** The door of files with games and positions on the disk, of any packing (chess/archives). A file that cannot be read is thrown as BrokenInput. */
import { createReadStream, statSync } from 'node:fs';
import { BrokenInput, cutText } from '../../base/util/index.js';
import { findFileKind, type InputKind, nameInputKind, readGameFile } from '../../chess/archives/index.js';

/** Small, because bytes that are read ahead count as packed and raise the limit of unpacked ones. */
const CHUNK_BYTES = 1 << 16;

/** In place of a file: what another program writes. */
const STDIN = '-';

/** As findFileKind; null also for a folder. Throws the file system's errors too. */
export async function findInputKind(path: string): Promise<InputKind | null> {
  if (path === STDIN) return null;
  const named = nameInputKind(path);
  const stats = statSync(path, { throwIfNoEntry: named === null });
  if (stats?.isDirectory() === true) return null;
  // A pipe can be read only once.
  return stats?.isFile() === true ? await findFileKind(readFileChunks(path), path) : named;
}

/** Told the number of bytes of a file that were read, for progress. */
export type CountBytes = (bytes: number) => void;

const REASONS_TOLD = 3;

/** Why lines or games of a file cannot be read. */
export class ReadingProblems {
  private readonly first: string[] = [];
  count = 0;

  constructor(private readonly parts: 'lines' | 'games') {}

  /**
   * @param reason with its line
   * @returns why reading should stop: so much of the file is unreadable that it cannot be what its name says; null = go on
   */
  add(reason: string, readable: number): string | null {
    if (++this.count <= REASONS_TOLD) this.first.push(cutText(reason, 200));
    if (this.count <= 1000 || this.count <= 50 * readable) return null;
    return `almost none of its ${this.parts} can be read (${this.first.join('; ')})`;
  }
}

/** Throws the file system's errors, and BrokenInput when the file became shorter meanwhile. */
export async function* readFileChunks(path: string, onBytes?: CountBytes): AsyncGenerator<Uint8Array> {
  const stats = path === STDIN ? undefined : statSync(path, { throwIfNoEntry: false });
  let missingBytes = stats?.isFile() === true ? stats.size : 0;
  const stream = path === STDIN ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    onBytes?.(chunk.length);
    missingBytes -= chunk.length;
    yield chunk;
  }
  if (missingBytes > 0) throw new BrokenInput('another program has shortened it while it was read');
}

/** A file's bytes, unpacked. @param kind as of readGameFile */
export function readChunks(
  path: string,
  kind: InputKind | null = null,
  onBytes?: CountBytes,
): AsyncGenerator<Uint8Array, void, void> {
  return readGameFile(readFileChunks(path, onBytes), path, kind);
}

export async function collectChunks(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all.length === 1 ? asBuffer(all[0]) : Buffer.concat(all);
}

/** The same memory. */
export function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
