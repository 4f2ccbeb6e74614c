/** The door of files with games and positions on the disk, of any packing (unpack/). What it cannot read it throws as BrokenInput. */
import { createReadStream, statSync } from 'node:fs';
import { findContentKind, type InputKind, nameInputKind, readGameFile } from '../unpack/index.js';

/** Small, because bytes that are read ahead count as packed and raise the limit of unpacked ones. */
const CHUNK_BYTES = 1 << 16;

/** What a file holds, by its name, or else by its content; null when neither says it, or the content cannot be read. */
export async function findInputKind(path: string): Promise<InputKind | null> {
  const named = nameInputKind(path);
  if (named !== null) return named;
  try {
    // A pipe can be read only once.
    return statSync(path).isFile() ? await findContentKind(readFileChunks(path, () => undefined)) : null;
  } catch {
    // The reader of the file reports what is wrong with it.
    return null;
  }
}

/** Whether so much of a file is unreadable that it cannot be what its name says, so that reading should stop. */
export function isHopeless(unreadable: number, readable: number): boolean {
  return unreadable > 1000 && unreadable > 50 * readable;
}

/** Throws the file system's errors. @param onBytes called with the number of bytes of the file that were read */
export async function* readFileChunks(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** A file's bytes, unpacked. @param kind as of readGameFile */
export function readChunks(
  path: string,
  onBytes: (bytes: number) => void,
  kind: InputKind | null = null,
): AsyncGenerator<Uint8Array, void, void> {
  return readGameFile(readFileChunks(path, onBytes), path, kind);
}
