/**
 * Reads lc0 training records from a file of one or many games, a folder of such files, or a tar archive of them as lc0
 * publishes. All of these may be gzipped; the content, not the name, decides the format.
 * Records carry no game number. A new game begins where the number of plies left grows, except in files whose name says that they
 * hold one game.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { failure, isGzip, type Result, success } from '../util/index.js';
import { type Chunks, gunzipChunks, peekChunks, readFileChunks } from './byte-stream.js';
import { BrokenArchive, hasTarMagic, readTarMembers, TAR_HEAD_BYTES } from './tar-archive.js';
import { getRecordBytes } from './v6-record.js';

/** Records of one game, back to back; or a sentence about a damaged file. */
export type RawV6Game = Result<{ readonly bytes: Buffer; readonly recordBytes: number }>;

const PLIES_LEFT_AT = 8304;
/** Files up to this size, nearly all of them, are unpacked in memory, which is several times as fast as a stream. */
const SMALL_FILE_BYTES = 1 << 20;
const SMALL_UNPACKED_BYTES = 1 << 27;
/** Archives by name; others are known by their content. */
export const TAR_FILE = /\.(?:tar(?:\.gz)?|tgz)$/;
/** How lc0's self-play, its server and `.v6` archives name record files; a folder is searched for these only. */
const RECORD_FILE = /^(?:game_|training\.).*\.gz$|\.v6(?:\.gz)?$/;

/** Files of one game, as lc0's self-play names them. In rescored games the plies left may go up. */
const ONE_GAME_FILE = /^game_\d+\.gz$/;

/** Cuts a stream of records into games. */
async function* readRawGames(chunks: Chunks, name: string): AsyncGenerator<RawV6Game> {
  let pending: Buffer = Buffer.alloc(0);
  let recordBytes = 0;
  let game: Buffer[] = [];
  let lastPliesLeft = 0;
  const isOneGame = ONE_GAME_FILE.test(name);
  for await (const chunk of chunks) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    if (recordBytes === 0 && pending.length >= 4) {
      const version = pending.readUInt32LE(0);
      const bytes = getRecordBytes(version);
      if (bytes === undefined) {
        yield failure(`${name} holds no training records of version 6 or 7, but ${version}`);
        return;
      }
      recordBytes = bytes;
    }
    let at = 0;
    while (recordBytes > 0 && pending.length - at >= recordBytes) {
      const record = pending.subarray(at, at + recordBytes);
      const pliesLeft = record.readFloatLE(PLIES_LEFT_AT);
      if (game.length > 0 && pliesLeft > lastPliesLeft && !isOneGame) {
        yield success({ bytes: Buffer.concat(game), recordBytes });
        game = [];
      }
      game.push(record);
      lastPliesLeft = pliesLeft;
      at += recordBytes;
    }
    pending = pending.subarray(at);
  }
  if (game.length > 0) yield success({ bytes: Buffer.concat(game), recordBytes });
  if (pending.length > 0) yield failure(`${name} ends in the middle of a record`);
}

/** Yields the games of one file among many. If it is damaged, the rest of it is skipped. Throws if the archive is damaged. */
async function* readRecordFile(name: string, sizeBytes: number, chunks: Chunks): AsyncGenerator<RawV6Game> {
  try {
    const unpacked = sizeBytes <= SMALL_FILE_BYTES ? unpackSmallFile(await collect(chunks)) : await unpack(chunks);
    yield* readRawGames(unpacked, name);
  } catch (error) {
    if (error instanceof BrokenArchive) throw error;
    yield failure(`${name} is damaged: ${(error as Error).message}`);
  }
}

async function collect(chunks: Chunks): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all.length === 1 ? all[0] : Buffer.concat(all);
}

function unpackSmallFile(bytes: Buffer): Chunks {
  if (!isGzip(bytes)) return [bytes];
  try {
    return [gunzipSync(bytes, { maxOutputLength: SMALL_UNPACKED_BYTES })];
  } catch {
    // Damaged, or not small: the stream gives what comes before the damage.
    return gunzipChunks([bytes]);
  }
}

async function unpack(packed: Chunks): Promise<AsyncGenerator<Buffer>> {
  const { head, chunks } = await peekChunks(packed, 2);
  return isGzip(head) ? gunzipChunks(chunks) : chunks;
}

function listRecordFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => RECORD_FILE.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** A folder that holds record files, such as those that lc0's self-play writes. */
export function isV6Folder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && listRecordFiles(path).length > 0;
}

/** Throws when the file or the archive itself breaks. */
export async function* readV6Games(path: string, onBytes: (bytes: number) => void): AsyncGenerator<RawV6Game> {
  if (statSync(path).isDirectory()) {
    for (const file of listRecordFiles(path)) yield* readFileOfFolder(file, onBytes);
    return;
  }
  const { head, chunks } = await peekChunks(await unpack(readFileChunks(path, onBytes)), TAR_HEAD_BYTES);
  if (!TAR_FILE.test(path) && !hasTarMagic(head)) {
    yield* readRawGames(chunks, basename(path));
    return;
  }
  for await (const member of readTarMembers(chunks)) {
    yield* readRecordFile(basename(member.name), member.sizeBytes, member.chunks);
  }
}

async function* readFileOfFolder(path: string, onBytes: (bytes: number) => void): AsyncGenerator<RawV6Game> {
  const sizeBytes = statSync(path).size;
  if (sizeBytes > SMALL_FILE_BYTES) {
    yield* readRecordFile(basename(path), sizeBytes, readFileChunks(path, onBytes));
    return;
  }
  const bytes = readFileSync(path);
  onBytes(bytes.length);
  yield* readRecordFile(basename(path), bytes.length, [bytes]);
}
