/**
 * Reads the games of lc0 training records from a file of one or many games, a folder of such files, or a tar archive of them as lc0
 * publishes, and turns them into training rows. Each of these may be gzipped; the content, not the name, decides the format. Records
 * carry no game number. A new game begins where the number of plies left grows, except in files whose name says that they hold one.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BrokenInput, failure, isGzip, RefusedInput, type Result, success, unwrap } from '../../base/util/index.js';
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
import type { Move, Position } from '../../chess/rules/index.js';
import { getPolicyEncoding, LC0_FORMATS, type Lc0Format } from '../../networks/encoding/index.js';
import { readFileChunks, readUntilBreak } from './game-files.js';
import { createTrainingRow, type EncodedRow, type GameFilter, type GameFormat, type GameSink } from './game-format.js';
import { EMPTY_GAME_HASH, hashBytes } from './game-hash.js';
import { type GameLine, readGameLine, readGameLineOf } from './game-line.js';
import { PositionFinder, writeV6Planes } from './v6-position.js';
import {
  createV6Record,
  getRecordBytes,
  knowsMovesLeft,
  readV6Record,
  V6_ADJUDICATED,
  V6_DELETED,
  V6_MOVES,
} from './v6-record.js';

/** Records of one game, back to back; or a sentence about a damaged file. */
export type RawV6Game = Result<{
  readonly bytes: Buffer;
  readonly recordBytes: number;
  /** The game's moves, where the file holds them. */
  readonly line: GameLine | null;
}>;

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
    const bytes = await collect(chunks);
    yield* readRawGames(unpackSmallFile(bytes, limit), name, readGameLine(bytes));
  } catch (error) {
    if (error instanceof BrokenArchive || error instanceof RefusedInput) throw error;
    yield failure(`${name} is damaged: ${(error as Error).message}`);
  }
}

async function collect(chunks: Chunks): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all.length === 1 ? asBuffer(all[0]) : Buffer.concat(all);
}

/** The same memory. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
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
export async function* readV6Games(path: string, onBytes: (bytes: number) => void): AsyncGenerator<RawV6Game> {
  const limit = new UnpackLimit(RECORD_LIMIT);
  if (statSync(path).isDirectory()) {
    for (const file of listRecordFiles(path)) yield* readFileOfFolder(file, onBytes, limit);
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

async function* readFileOfFolder(
  path: string,
  onBytes: (bytes: number) => void,
  limit: UnpackLimit,
): AsyncGenerator<RawV6Game> {
  const sizeBytes = statSync(path).size;
  const chunks = limit.countPacked(readFileChunks(path, onBytes));
  if (sizeBytes > SMALL_FILE_BYTES) {
    yield* readRecordFile(basename(path), sizeBytes, chunks, limit);
    return;
  }
  const bytes = readFileSync(path);
  onBytes(bytes.length);
  yield* readRecordFile(basename(path), bytes.length, limit.countPacked([bytes]), limit);
}

// Records to rows. If the shards have the record's encoding, planes and indices are copied. Otherwise the position is found, with its
// history.

const POLICY = 'lc0-1858';
const PLANES = 112;
/** Bytes of a record that identify its game: planes, castling, side and rule 50, without the evaluations. */
const HASHED_FROM = 7440;
const HASHED_TO = 8280;

const record = createV6Record();
const row = createTrainingRow();
const legalMoves = new Uint16Array(256);
const encoded: EncodedRow = {
  masks: new Uint32Array(2 * PLANES),
  planeValues: new Float32Array(PLANES),
  legalCount: 0,
  legalIndices: new Uint16Array(256),
  targetIndices: new Uint16Array(256),
};

/** False for an adjudicated game whose last search could not estimate how long it would have gone on. */
function hasPliesLeft(bytes: Buffer, recordBytes: number): Result<boolean> {
  const read = readV6Record(bytes, bytes.length - recordBytes, record);
  if (!read.ok) return read;
  return success((record.invariance & V6_ADJUDICATED) === 0 || knowsMovesLeft(record));
}

/** Records of old lc0 versions have 0 as plies left: unknown. */
function setRow(number: number, ply: number, knowsPliesLeft: boolean): void {
  row.ply = ply;
  row.targetKind = 'weights';
  row.result = drawResult(number);
  row.valueWl = record.bestQ;
  row.valueDraw = record.bestD;
  row.pliesLeft = knowsPliesLeft && record.pliesLeft > 0 ? record.pliesLeft : null;
}

/**
 * The game's result. A deblundered record has the probabilities of the three results instead, but shards store one result. So
 * one is drawn with these probabilities, by a hash, so that every run draws the same one.
 */
function drawResult(number: number): number {
  const { resultQ, resultD } = record;
  if (Number.isInteger(resultQ)) return resultQ;
  const win = (1 + resultQ - resultD) / 2;
  const drawn = ((Math.imul(row.game ^ Math.imul(number + 1, 0x9e3779b1), 0x85ebca6b) >>> 8) + 0.5) / 2 ** 24;
  return drawn < win ? 1 : drawn < win + resultD ? 0 : -1;
}

/** The record's planes and indices as they are. */
function appendAsIs(format: Lc0Format, sink: GameSink): Result<null> {
  writeV6Planes(record, format, encoded.masks, encoded.planeValues);
  let best = -1;
  encoded.legalCount = 0;
  row.targetCount = 0;
  for (let index = 0; index < V6_MOVES; index++) {
    const probability = record.probabilities[index];
    if (!(probability >= 0)) continue;
    if (encoded.legalCount === encoded.legalIndices.length) return failure('A record has too many legal moves');
    encoded.legalIndices[encoded.legalCount++] = index;
    if (probability === 0) continue;
    if (index === record.bestIndex) best = row.targetCount;
    row.targetWeights[row.targetCount] = probability;
    encoded.targetIndices[row.targetCount++] = index;
  }
  putFirst(encoded.targetIndices, best);
  sink.appendEncoded(encoded, row);
  return success(null);
}

/**
 * Swaps the target at `at` with the first one; −1 changes nothing. Of moves with equal visits the search knows the better one, and
 * training on the best move alone takes the first.
 */
function putFirst(targets: Uint16Array, at: number): void {
  if (at <= 0) return;
  const { targetWeights } = row;
  [targets[0], targets[at]] = [targets[at], targets[0]];
  [targetWeights[0], targetWeights[at]] = [targetWeights[at], targetWeights[0]];
}

/** Fills `row` from the record and `legalMoves` from the board. @returns the number of legal moves */
function resolveMoves(position: Position, format: Lc0Format): Result<number> {
  const policy = unwrap(getPolicyEncoding(POLICY));
  const transform = format.canonical ? record.invariance & 7 : 0;
  const count = position.generateLegalMoves(legalMoves);
  let best = -1;
  row.targetCount = 0;
  for (let i = 0; i < count; i++) {
    const move = legalMoves[i] as Move;
    const index = policy.moveToIndex(position, move, transform);
    const probability = record.probabilities[index];
    if (!(probability >= 0)) return failure('A record gives a legal move no probability');
    if (probability === 0) continue;
    if (index === record.bestIndex) best = row.targetCount;
    row.targetWeights[row.targetCount] = probability;
    row.targetMoves[row.targetCount++] = move;
  }
  putFirst(row.targetMoves, best);
  return success(count);
}

function appendPosition(position: Position, format: Lc0Format, sink: GameSink): Result<null> {
  const count = resolveMoves(position, format);
  if (!count.ok) return count;
  sink.append(position, legalMoves, count.value, row);
  return success(null);
}

function writeGame(game: RawV6Game, sink: GameSink, filter: GameFilter): Result<number> {
  if (!game.ok) return game;
  const { bytes, recordBytes, line } = game.value;
  const knowsPliesLeft = hasPliesLeft(bytes, recordBytes);
  if (!knowsPliesLeft.ok) return knowsPliesLeft;
  let hash = EMPTY_GAME_HASH;
  for (let at = 0; at < bytes.length; at += recordBytes) {
    hash = hashBytes(hash, bytes.subarray(at + HASHED_FROM, at + HASHED_TO));
  }
  sink.beginGame(hash);
  row.game = hash;
  const finder = new PositionFinder(line);
  const count = bytes.length / recordBytes;
  let rows = 0;
  for (let number = 0; number < count; number++) {
    const read = readV6Record(bytes, number * recordBytes, record);
    if (!read.ok) return read;
    const format = LC0_FORMATS.find(({ id }) => id === record.inputFormat);
    if (format === undefined) return failure(`The input format ${record.inputFormat} is unknown`);
    // With the game's moves the first boards are filled as `--history-fill` says, whatever self-play did.
    const isAsIs = line === null && sink.accepts(format.name, POLICY);
    const found: Result<Position | null> = isAsIs ? success(null) : finder.next(record, format);
    if (!found.ok) return found;
    if (found.value === null) finder.skip(record);
    setRow(number, finder.ply, knowsPliesLeft.value);
    if (finder.ply < filter.skipPlies || (record.invariance & V6_DELETED) !== 0) continue;
    const appended = found.value === null ? appendAsIs(format, sink) : appendPosition(found.value, format, sink);
    if (!appended.ok) return appended;
    rows++;
  }
  return success(rows);
}

export const v6Games: GameFormat<RawV6Game> = { readGames: readV6Games, writeGame };
