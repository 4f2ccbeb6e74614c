/**
 * Records to rows. If the shards have the record's encoding, planes and indices are copied. Otherwise the position is found, with
 * its history.
 */

import { failure, type Result, success } from '../../base/util/index.js';
import type { Move, Position } from '../../chess/rules/index.js';
import { LC0_FORMATS, type Lc0Format } from '../../networks/encoding/index.js';
import { createTrainingRow, type EncodedRow, type GameFilter, type GameSink } from './game-format.js';
import { EMPTY_GAME_HASH, hashBytes } from './game-hash.js';
import type { GameLine } from './game-line.js';
import { PositionFinder, v6Policy, writeV6Planes } from './v6-position.js';
import {
  createV6Record,
  isCut,
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

const PLANES = 112;
/** Bytes of a record that identify its game: planes, castling, side and rule 50, without the evaluations. */
const HASHED_FROM = 7440;
const HASHED_TO = 8280;

export const record = createV6Record();
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
  row.result = isCut(record) ? null : drawResult(number);
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
  encoded.legalCount = 0;
  row.targetCount = 0;
  for (let index = 0; index < V6_MOVES; index++) {
    const probability = record.probabilities[index];
    if (!(probability >= 0)) continue;
    if (encoded.legalCount === encoded.legalIndices.length) return failure('A record has too many legal moves');
    encoded.legalIndices[encoded.legalCount++] = index;
    if (probability > 0) addTarget(encoded.targetIndices, index, index, probability);
  }
  sink.appendEncoded(encoded, row);
  return success(null);
}

/**
 * Adds a target to the row. The record's best move changes places with the first: of moves with equal visits the search knows the
 * better one, and training on the best move alone takes the first.
 * @param target the policy index, or the move that has this index
 */
function addTarget(targets: Uint16Array, target: number, index: number, probability: number): void {
  const { targetWeights } = row;
  const last = row.targetCount++;
  const at = index === record.bestIndex ? 0 : last;
  targets[last] = targets[at];
  targetWeights[last] = targetWeights[at];
  targets[at] = target;
  targetWeights[at] = probability;
}

/** Fills `row` from the record and `legalMoves` from the board. @returns the number of legal moves */
function resolveMoves(position: Position, transform: number): Result<number> {
  const count = position.generateLegalMoves(legalMoves);
  row.targetCount = 0;
  for (let i = 0; i < count; i++) {
    const move = legalMoves[i] as Move;
    const index = v6Policy.moveToIndex(position, move, transform);
    const probability = record.probabilities[index];
    if (!(probability >= 0)) return failure('A record gives a legal move no probability');
    if (probability > 0) addTarget(row.targetMoves, move, index, probability);
  }
  return success(count);
}

function appendPosition(position: Position, transform: number, sink: GameSink): Result<null> {
  const count = resolveMoves(position, transform);
  if (!count.ok) return count;
  sink.append(position, legalMoves, count.value, row);
  return success(null);
}

export function writeGame(game: RawV6Game, sink: GameSink, filter: GameFilter): Result<number> {
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
    const isAsIs = line === null && sink.accepts(format.name, v6Policy.name);
    const found: Result<Position | null> = isAsIs ? success(null) : finder.next(record, format);
    if (!found.ok) return found;
    if (found.value === null) finder.skip(record);
    setRow(number, finder.ply, knowsPliesLeft.value);
    if (finder.ply < filter.skipPlies || (record.invariance & V6_DELETED) !== 0) continue;
    const { transform } = finder;
    const appended = found.value === null ? appendAsIs(format, sink) : appendPosition(found.value, transform, sink);
    if (!appended.ok) return appended;
    rows++;
  }
  return success(rows);
}
