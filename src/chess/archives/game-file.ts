/**
 * The one door of files with games and positions: a file of any packing becomes bytes in small pieces. gzip, zstd and bzip2 are
 * unpacked; of ZIP and tar archives, the files of the wanted kind are read one after the other, those of archives in archives too. The
 * content, not the name, says how a file is packed; the name, or else its first text, says what it holds. Whatever is wrong with a file
 * is thrown as BrokenInput after all that can be read.
 */

import { BrokenInput, decodeText, RefusedInput, toUtf8 } from '../../base/util/index.js';
import { findGameTextKind } from '../pgn/index.js';
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
import { nameOtherBook, unpack } from './unpack.js';
import { UnpackLimit } from './unpack-limit.js';

export type InputKind = 'pgn' | 'labels' | 'positions' | 'polyglot';

/** Those that are not read are named by what reads the file. */
const PACKINGS = /(?:\.(?:gz|zst|bz2|zip|tar|tgz|xz|lzma|lz|lz4|z|7z|rar))+$/;
const ARCHIVES = /\.(?:zip|tar(?:\.\w{1,4})?|tgz)$/i;
const KINDS: readonly (readonly [pattern: RegExp, kind: InputKind])[] = [
  [/\.(?:pgn|tsv)$/, 'pgn'],
  [/\.jsonl(?:\.part)?$/, 'labels'],
  [/\.(?:epd|fen)$/, 'positions'],
  [/\.bin$/, 'polyglot'],
];
/** Archives in archives in archives; deeper ones are no files of games. */
const DEEPEST = 3;
/** Files of an archive that are looked at; records of training are many, and none of them is of a kind. */
const MEMBERS_TO_NAME = 16;
const TEXT_HEAD_BYTES = 1 << 14;
const NEWLINE = 10;

/** What a file of this name holds; null when the name does not say it. */
export function nameInputKind(path: string): InputKind | null {
  const name = path.toLowerCase().replace(PACKINGS, '');
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/**
 * What a file holds. The text decides, whatever the name says, and of an archive the name, or else its first file of a known kind. Throws
 * BrokenInput when the name does not say it and the content cannot be read.
 */
export async function findFileKind(packed: Chunks, path: string): Promise<InputKind | null> {
  const named = nameInputKind(path);
  const limit = new UnpackLimit();
  let seen = 0;
  const search = async ({ members, source }: OpenFile, depth: number): Promise<InputKind | null> => {
    if (members === null) return await findTextKind(source);
    for await (const { name, chunks } of members) {
      const isSearched = nameInputKind(name) === null && (isNameless(name) || (ARCHIVES.test(name) && depth < DEEPEST));
      const kind = isSearched ? await search(await openFile(chunks, limit), depth + 1) : nameInputKind(name);
      if (kind !== null || ++seen >= MEMBERS_TO_NAME) return kind;
    }
    return null;
  };
  try {
    const file = await openFile(limit.countPacked(packed), limit);
    try {
      if (file.members !== null && named !== null) return named;
      if (named === 'polyglot') await refuseEmpty(file.source);
      return (await search(file, 1)) ?? named;
    } finally {
      await file.source.close();
    }
  } catch (error) {
    // The reader of the file says what is wrong with it, behind all that can be read; of a book nothing can.
    if (named !== null && named !== 'polyglot' && error instanceof BrokenInput) return named;
    throw error;
  }
}

async function findTextKind(source: PackedBytes): Promise<InputKind | null> {
  const head = await source.peek(TEXT_HEAD_BYTES);
  if (head.includes(0) && isPolyglot(head)) return 'polyglot';
  const text = (await decodeText([head]).next()).value ?? '';
  // Zeros at the ends of lines are no sign of other data.
  if (/\0[^\0\r\n]/.test(text)) return null;
  if (/^\s*\{"\w*":/.test(text.slice(0, 1000))) return 'labels';
  const kind = findGameTextKind(text);
  return kind === 'games' ? 'pgn' : kind;
}

const POLYGLOT_ENTRY_BYTES = 16;
const MOST_POLYGLOT_ENTRIES = 4096;

/** Whether the first bytes of a file are those of a Polyglot book: entries sorted by the key of their position, with moves in 15 bits. */
export function isPolyglot(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const entries = Math.min(MOST_POLYGLOT_ENTRIES, Math.floor(bytes.length / POLYGLOT_ENTRY_BYTES));
  let earlier = 0n;
  for (let at = 0; at < entries * POLYGLOT_ENTRY_BYTES; at += POLYGLOT_ENTRY_BYTES) {
    const key = view.getBigUint64(at);
    const move = view.getUint16(at + 8);
    if (key < earlier || move >> 12 > 4 || (move & 63) === ((move >> 6) & 63)) return false;
    earlier = key;
  }
  return entries > 0;
}

async function refuseEmpty(source: PackedBytes): Promise<void> {
  if ((await source.peek(TAR_HEAD_BYTES)).length === 0) throw new BrokenInput('it is empty');
}

/** What holds no text of games. */
const OTHERS: ReadonlyMap<InputKind | null, string> = new Map([
  ['labels', 'labelled games'],
  ['polyglot', 'an opening book'],
]);

/** Names of files in archives whose content says what they hold. */
function isNameless(name: string): boolean {
  return /^[^.]*(?:\.txt)?$/i.test(name.slice(name.lastIndexOf('/') + 1).replace(PACKINGS, ''));
}

/** The unpacked bytes of a file, and if they are an archive the files in it. */
interface OpenFile {
  readonly source: PackedBytes;
  readonly members: AsyncGenerator<ArchiveMember, void, void> | null;
}

async function openFile(packed: Chunks, limit: UnpackLimit): Promise<OpenFile> {
  // What was packed twice, as servers do, is unpacked twice.
  const source = new PackedBytes(unpack(unpack(packed, limit), limit));
  const head = await source.peek(TAR_HEAD_BYTES);
  const members = isZip(head)
    ? readZipMembers(source, limit)
    : hasTarMagic(head)
      ? readTarMembers(source, limit)
      : null;
  return { source, members };
}

/**
 * A file's bytes, unpacked.
 * @param path of the file, or its name
 * @param kind what is wanted; null = games or positions, of an archive those that its name, or the first file in it, says
 */
export async function* readGameFile(
  packed: Chunks,
  path: string,
  kind: InputKind | null = null,
): AsyncGenerator<Uint8Array, void, void> {
  const limit = new UnpackLimit();
  const file = await openFile(limit.countPacked(packed), limit);
  if (file.members === null) {
    await refuseEmpty(file.source);
    const head = await file.source.peek(TAR_HEAD_BYTES);
    const book = isPolyglot(head) ? null : nameOtherBook(path.toLowerCase().replace(PACKINGS, ''), head);
    if (book !== null) throw new BrokenInput(book);
    const other = OTHERS.has(kind) ? undefined : OTHERS.get((await findTextKind(file.source)) ?? nameInputKind(path));
    if (other !== undefined) throw new BrokenInput(`it holds ${other}, not games or positions`);
    yield* file.source.rest();
    return;
  }
  const named = kind ?? nameInputKind(path);
  let wanted = kind === null && OTHERS.has(named) ? null : named;
  let files = 0;
  let book: string | null = null;
  const others: string[] = [];
  const problems: string[] = [];
  const note = (error: unknown, place: string): void => {
    if (!(error instanceof BrokenInput) || error instanceof RefusedInput) throw error;
    problems.push(place + error.message);
  };
  async function* readMember({ name, chunks }: ArchiveMember, depth: number): AsyncGenerator<Uint8Array, void, void> {
    const named = nameInputKind(name);
    const isOther = named !== null && (wanted !== null ? named !== wanted : kind === null && OTHERS.has(named));
    if (isOther) others.push(name);
    if (isOther || isSystemFile(name)) return;
    if (named === null && !isNameless(name) && !ARCHIVES.test(name)) {
      const other = nameOtherBook(name, null);
      if (other !== null) book ??= `${name} in it: ${other}`;
      return;
    }
    const { source, members } = await openFile(chunks, limit);
    if (members !== null) {
      if (depth === DEEPEST) throw new BrokenInput('archives lie too deep in it');
      yield* readMembers(members, depth + 1);
      return;
    }
    const found = named ?? (await findTextKind(source));
    if (found === null) return;
    if (kind !== null || !OTHERS.has(found)) wanted ??= found;
    if (found !== wanted) {
      others.push(name);
      return;
    }
    files++;
    yield* found === 'polyglot' ? source.rest() : toUtf8(source.rest());
  }
  async function* readMembers(
    members: AsyncIterable<ArchiveMember>,
    depth: number,
  ): AsyncGenerator<Uint8Array, void, void> {
    for await (const member of members) {
      const before = files;
      try {
        yield* readMember(member, depth);
      } catch (error) {
        note(error, error instanceof BrokenArchive ? '' : `${member.name} in it: `);
      }
      // Games of two files must not become one line.
      if (files > before && wanted !== 'polyglot') yield Uint8Array.of(NEWLINE);
    }
  }
  try {
    yield* readMembers(file.members, 1);
  } catch (error) {
    note(error, '');
  }
  if (problems.length > 0) throw new BrokenInput(problems[0]);
  if (files === 0) throw new BrokenInput(book ?? 'its archive holds no file of this kind');
  if (others.length > 0) throw new BrokenInput(`it also holds ${others.join(', ')}, of another kind`);
}

/** What macOS puts beside a file. */
function isSystemFile(name: string): boolean {
  return /(?:^|\/)\._/.test(name);
}
