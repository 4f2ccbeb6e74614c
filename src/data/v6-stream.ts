/**
 * lc0 training records wherever they lie: a gzipped file of one or many games, a folder of such files, or a tar archive
 * of them as lc0 publishes. Records carry no game number; a new game begins where the plies left go up.
 */
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { failure, type Result, success } from '../util/index.js';
import { readChunks } from './byte-stream.js';
import { getRecordBytes } from './v6-record.js';

/** Records of one game, back to back; or what is wrong with a file. */
export type RawV6Game = Result<{ readonly bytes: Buffer; readonly recordBytes: number }>;

const PLIES_LEFT_AT = 8304;
const TAR_BLOCK = 512;
/** How lc0's self-play, its server and `.v6` archives name record files; a folder is searched for these only. */
const RECORD_FILE = /^(?:game_|training\.).*\.gz$|\.v6(?:\.gz)?$/;

/** Cuts a stream of records into games. */
async function* splitGames(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, name: string): AsyncGenerator<RawV6Game> {
  let pending: Buffer = Buffer.alloc(0);
  let recordBytes = 0;
  let game: Buffer[] = [];
  let lastPliesLeft = 0;
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
      if (game.length > 0 && pliesLeft > lastPliesLeft) {
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

/** A whole small file in memory, gzipped or not. */
async function* readWholeFile(name: string, bytes: Buffer): AsyncGenerator<RawV6Game> {
  let unpacked = bytes;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      unpacked = gunzipSync(bytes);
    } catch (error) {
      yield failure(`${name} is damaged: ${(error as Error).message}`);
      return;
    }
  }
  yield* splitGames([unpacked], name);
}

/** The plain files of a tar archive; names beyond 100 characters lose their folder, which does not matter here. */
async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ name: string; bytes: Buffer }> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (pending.length >= TAR_BLOCK) {
      const size = Number.parseInt(pending.toString('latin1', 124, 136), 8) || 0;
      const end = TAR_BLOCK + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
      if (pending.length < end) break;
      const name = pending.toString('latin1', 0, 100).replace(/\0.*$/s, '');
      const isPlainFile = pending[156] === 0x30 || pending[156] === 0;
      if (isPlainFile && size > 0) yield { name, bytes: pending.subarray(TAR_BLOCK, TAR_BLOCK + size) };
      pending = pending.subarray(end);
    }
  }
}

function listRecordFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => RECORD_FILE.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** A folder that holds record files, such as those that lc0's self-play writes. */
export function isV6Folder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && listRecordFiles(path).length > 0;
}

export async function* readV6Games(path: string, onBytes: (bytes: number) => void): AsyncGenerator<RawV6Game> {
  if (statSync(path).isDirectory()) {
    for (const file of listRecordFiles(path)) {
      const bytes = readFileSync(file);
      onBytes(bytes.length);
      yield* readWholeFile(basename(file), bytes);
    }
  } else if (path.endsWith('.tar')) {
    const file = createReadStream(path, { highWaterMark: 1 << 20 });
    file.on('data', (chunk) => onBytes(chunk.length));
    for await (const entry of readTar(file as AsyncIterable<Buffer>)) yield* readWholeFile(entry.name, entry.bytes);
  } else {
    yield* splitGames(readChunks(path, onBytes), basename(path));
  }
}
