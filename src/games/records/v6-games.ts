/**
 * Reads the games of lc0 training records from a file of one or many games, a folder of such files, or a tar archive of them as lc0
 * publishes, and turns them into training rows. Each of these may be gzipped; the content, not the name, decides the format. Records
 * carry no game number. A new game begins where the number of plies left grows, except in files whose name says that they hold one.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describeReadFailure } from '#platform/files.js';
import { BrokenInput, failure, isGzip, RefusedInput, readUntilBreak, success } from '../../base/util/index.js';
import {
  BrokenArchive,
  type Chunks,
  CutOff,
  hasTarMagic,
  PackedBytes,
  RECORD_LIMIT,
  readTarMembers,
  TAR_HEAD_BYTES,
  UnpackLimit,
  unpack,
} from '../../chess/archives/index.js';
import { asBuffer, type CountBytes, collectChunks, readFileChunks } from './game-files.js';
import type { GameFormat } from './game-format.js';
import { type GameLine, readGameLine, readGameLineOf } from './game-line.js';
import { getRecordBytes } from './v6-record.js';
import { type RawV6Game, writeGame } from './v6-rows.js';

const PLIES_LEFT_AT = 8304;
/** Files up to this size, nearly all of them, are unpacked in memory, which is several times as fast as a stream. */
const SMALL_FILE_BYTES = 1 << 20;
const SMALL_UNPACKED_BYTES = 1 << 25;
/** More plies than the rules of draws leave to any game of two engines; a game without an end must not fill the memory. */
const MOST_PLIES = 8192;
/** Archives by name; others are known by their content. */
export const TAR_FILE = /\.(?:tar(?:\.gz)?|tgz)$/;
/** How lc0's self-play, its server and `.v6` archives name record files; a folder is searched for these only. */
const RECORD_FILE = /^(?:game_|training\.).*\.gz$|\.v6(?:\.gz)?$/;

/** Files of one game, as lc0's self-play names them. In rescored games the plies left may go up. */
const ONE_GAME_FILE = /^game_\d+\.gz$/;

/** Cuts a stream of records into games. `line`: what the file's header says of its first game. */
async function* readRawGames(chunks: Chunks, name: string, line: GameLine | null): AsyncGenerator<RawV6Game> {
  let games = 0;
  const finish = (records: Buffer[]): RawV6Game => {
    const isOfLine = games++ === 0 && line?.plies.length === records.length;
    return success({ bytes: Buffer.concat(records), recordBytes, line: isOfLine ? line : null });
  };
  let pending: Buffer = Buffer.alloc(0);
  let recordBytes = 0;
  let game: Buffer[] = [];
  let lastPliesLeft = 0;
  const isOneGame = ONE_GAME_FILE.test(name);
  const breaks: Error[] = [];
  for await (const chunk of readUntilBreak(chunks, (error) => breaks.push(error))) {
    pending = pending.length === 0 ? asBuffer(chunk) : Buffer.concat([pending, chunk]);
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
        yield finish(game);
        game = [];
      }
      if (game.length === MOST_PLIES) {
        yield failure(`${name} holds a game of more than ${MOST_PLIES} plies`);
        return;
      }
      game.push(record);
      lastPliesLeft = pliesLeft;
      at += recordBytes;
    }
    pending = pending.subarray(at);
  }
  // Before a damaged place, as a wrong checksum tells of it, the last records may be wrong.
  const isDamaged = breaks[0] instanceof BrokenInput && !(breaks[0] instanceof CutOff);
  if (game.length > 0 && !isDamaged) yield finish(game);
  if (breaks.length > 0) throw breaks[0];
  if (pending.length > 0) yield failure(`${name} ends in the middle of a record`);
}

/** Yields the games of one file among many. If it is damaged, the rest of it is skipped. Throws if the archive is damaged. */
async function* readRecordFile(
  name: string,
  sizeBytes: number,
  chunks: Chunks,
  limit: UnpackLimit,
): AsyncGenerator<RawV6Game> {
  try {
    if (sizeBytes > SMALL_FILE_BYTES) {
      yield* readRawGames(unpack(chunks, limit), name, null);
      return;
    }
    const bytes = await collectChunks(chunks);
    yield* readRawGames(unpackSmallFile(bytes, limit), name, readGameLine(bytes));
  } catch (error) {
    if (error instanceof BrokenArchive || error instanceof RefusedInput) throw error;
    const isOfSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
    yield failure(`${name} ${isOfSystem ? 'cannot be read' : 'is damaged'}: ${describeReadFailure(error)}`);
  }
}

function unpackSmallFile(bytes: Buffer, limit: UnpackLimit): Chunks {
  if (!isGzip(bytes)) return [bytes];
  let unpacked: Buffer;
  try {
    unpacked = gunzipSync(bytes, { maxOutputLength: SMALL_UNPACKED_BYTES });
  } catch {
    // Damaged, or not small: the stream gives what comes before the damage.
    return unpack([bytes], limit);
  }
  limit.countUnpacked(unpacked.length);
  return [unpacked];
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
export async function* readV6Games(path: string, onBytes?: CountBytes): AsyncGenerator<RawV6Game> {
  const limit = new UnpackLimit(RECORD_LIMIT);
  if (statSync(path).isDirectory()) {
    for (const file of listRecordFiles(path)) yield* readFileOfFolder(file, limit, onBytes);
    return;
  }
  const source = new PackedBytes(unpack(limit.countPacked(readFileChunks(path, onBytes)), limit));
  const head = await source.peek(TAR_HEAD_BYTES);
  if (!TAR_FILE.test(path) && !hasTarMagic(head)) {
    yield* readRawGames(source.rest(), basename(path), readGameLineOf(path));
    return;
  }
  for await (const member of readTarMembers(source, limit)) {
    yield* readRecordFile(basename(member.name), member.sizeBytes ?? 0, member.chunks, limit);
  }
}

async function* readFileOfFolder(path: string, limit: UnpackLimit, onBytes?: CountBytes): AsyncGenerator<RawV6Game> {
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const chunks = sizeBytes > SMALL_FILE_BYTES ? readFileChunks(path, onBytes) : readSmallFile(path, onBytes);
  yield* readRecordFile(basename(path), sizeBytes, limit.countPacked(chunks), limit);
}

function* readSmallFile(path: string, onBytes?: CountBytes): Generator<Uint8Array> {
  const bytes = readFileSync(path);
  onBytes?.(bytes.length);
  yield bytes;
}

export const v6Games: GameFormat<RawV6Game> = { readGames: readV6Games, writeGame };
