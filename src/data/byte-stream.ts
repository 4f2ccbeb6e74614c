/**
 * The one door of files with games and positions: a file of any packing becomes bytes or text in small pieces. gzip, zstd and bzip2 are
 * unpacked; of ZIP and tar archives, the files of the wanted kind are read one after the other (see decodeText of util/ for their text). The content, not the name, says how
 * a file is packed; the name says what it holds. Whatever is wrong with a file is thrown as BrokenInput after all that can be read.
 */
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { findGameTextKind } from '../pgn/index.js';
import { BrokenInput, decodeText, RefusedInput } from '../util/index.js';
import {
  type ArchiveMember,
  BrokenArchive,
  hasTarMagic,
  isZip,
  readTarMembers,
  readZipMembers,
  TAR_HEAD_BYTES,
} from './archives.js';
import { type Chunks, PackedBytes } from './packed-bytes.js';
import { UnpackLimit, unpack } from './unpack.js';

/** Small, because bytes that are read ahead count as packed and raise the limit of unpacked ones. */
const CHUNK_BYTES = 1 << 16;

/** Files of an archive that are looked at; records of training are many, and none of them is of a kind. */
const MEMBERS_TO_NAME = 16;

export type InputKind = 'pgn' | 'labels' | 'positions' | 'polyglot';

/** Those that are not read are named by what reads the file. */
const PACKINGS = /(?:\.(?:gz|zst|bz2|zip|tar|tgz|xz|lzma|lz|lz4|z|7z|rar))+$/;
const KINDS: readonly (readonly [pattern: RegExp, kind: InputKind])[] = [
  [/\.pgn$/, 'pgn'],
  [/\.jsonl(?:\.part)?$/, 'labels'],
  [/\.(?:epd|fen)$/, 'positions'],
  [/\.bin$/, 'polyglot'],
];

/** What a file of this name holds; null when the name does not say it. */
function nameInputKind(path: string): InputKind | null {
  const name = path.toLowerCase().replace(PACKINGS, '');
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/**
 * The same; where the name does not say it, what the first file of a known kind in an archive is, or what the text begins with. Null when
 * that says nothing either, or cannot be read.
 */
export async function findInputKind(path: string): Promise<InputKind | null> {
  const named = nameInputKind(path);
  if (named !== null) return named;
  try {
    // A pipe can be read only once.
    if (!statSync(path).isFile()) return null;
    const limit = new UnpackLimit();
    const { members, chunks } = await openMembers(limit.countPacked(readFileChunks(path, () => undefined)), limit);
    if (members === null) return await findTextKind(chunks);
    let seen = 0;
    for await (const { name } of members) {
      const kind = nameInputKind(name);
      if (kind !== null || ++seen === MEMBERS_TO_NAME) return kind;
    }
  } catch {
    // The reader of the file reports what is wrong with it.
  }
  return null;
}

async function findTextKind(chunks: AsyncIterable<Buffer>): Promise<InputKind | null> {
  const texts = decodeText(chunks);
  const first = await texts.next();
  await texts.return();
  if (first.done === true || first.value.includes('\0')) return null;
  if (/^\s*\{"/.test(first.value.slice(0, 1000))) return 'labels';
  const kind = findGameTextKind(first.value);
  return kind === 'games' ? 'pgn' : kind;
}

/** Whether so much of a file is unreadable that it cannot be what its name says, so that reading should stop. */
export function isHopeless(unreadable: number, readable: number): boolean {
  return unreadable > 1000 && unreadable > 50 * readable;
}

/** Throws the file system's errors. @param onBytes called with the number of bytes of the file that were read */
export async function* readFileChunks(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/**
 * A file's bytes, unpacked.
 * @param kind what is wanted of an archive; null = what its name, or the first file in it, says
 */
export async function* readChunks(
  path: string,
  onBytes: (bytes: number) => void,
  kind: InputKind | null = null,
): AsyncGenerator<Buffer, void, void> {
  const limit = new UnpackLimit();
  const { members, chunks } = await openMembers(limit.countPacked(readFileChunks(path, onBytes)), limit);
  if (members === null) {
    yield* chunks;
    return;
  }
  let wanted = kind ?? nameInputKind(path);
  const others: string[] = [];
  let files = 0;
  let problem: string | null = null;
  const note = (error: unknown, place: string): void => {
    if (!(error instanceof BrokenInput) || error instanceof RefusedInput) throw error;
    problem ??= place + error.message;
  };
  try {
    for await (const { name, chunks: content } of members) {
      const found = nameInputKind(name);
      wanted ??= found;
      const isNameless = found === null && /^[^.]*(?:\.txt)?$/i.test(basename(name)) && nameInputKind(path) === wanted;
      if (wanted !== null && (found === wanted || isNameless)) {
        files++;
        try {
          yield* unpack(content, limit);
        } catch (error) {
          note(error, error instanceof BrokenArchive ? '' : `${name} in it: `);
        }
        // Games of two files must not become one line.
        if (wanted !== 'polyglot') yield Buffer.from('\n');
      } else if (found !== null) others.push(name);
    }
  } catch (error) {
    note(error, '');
  }
  if (problem !== null) throw new BrokenInput(problem);
  if (files === 0) throw new BrokenInput('its archive holds no file of this kind');
  if (others.length > 0) throw new BrokenInput(`it also holds ${others.join(', ')}, of another kind`);
}

/** The unpacked bytes, and if they are an archive the files in it. */
async function openMembers(
  packed: Chunks,
  limit: UnpackLimit,
): Promise<{ members: AsyncGenerator<ArchiveMember, void, void> | null; chunks: AsyncGenerator<Buffer, void, void> }> {
  // What was packed twice, as servers do, is unpacked twice.
  const source = new PackedBytes(unpack(unpack(packed, limit), limit));
  const head = await source.takeSome(TAR_HEAD_BYTES, TAR_HEAD_BYTES);
  source.giveBack(head);
  const chunks = source.rest();
  const members = isZip(head) ? readZipMembers(source, limit) : hasTarMagic(head) ? readTarMembers(chunks) : null;
  return { members, chunks };
}
