/**
 * Turns lc0 training records into rows. If the shards have the record's encoding, planes and indices are copied. Otherwise the
 * position is found, with its history.
 */
import { BLACK, type Move, type Position } from '../chess/index.js';
import { getPolicyEncoding, type HistoryFill, LC0_FORMATS, type Lc0Format } from '../encoding/index.js';
import { failure, type Result, success, unwrap } from '../util/index.js';
import {
  createTrainingRow,
  EMPTY_GAME_HASH,
  type EncodedRow,
  type GameFilter,
  type GameFormat,
  type GameSink,
  hashBytes,
} from './game-format.js';
import { PositionFinder, setV6Position, writeV6Planes } from './v6-position.js';
import {
  createV6Record,
  knowsMovesLeft,
  type RawV6Game,
  readV6Games,
  readV6Record,
  V6_ADJUDICATED,
  V6_BYTES,
  V6_DELETED,
  V6_MOVES,
  V6_PROVEN_BEST,
  V6_TOO_LONG,
  type V6Record,
  writeV6Record,
} from './v6-record.js';

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

// Turns self-play games into training records. A position is recorded when it is searched; result and plies left are filled in
// when the game ends. For an adjudicated game the last search estimates the plies left (lc0 does so for every game). Source of
// every field's meaning: lc0, trainingdata/trainingdata.cc.

/** An evaluation from the mover's view: W − L, draw probability, plies left. */
export interface SearchValue {
  readonly q: number;
  readonly d: number;
  readonly m: number;
}

/** Results of a search of one position. */
export interface SearchedPosition {
  /** All legal moves and their visits, in the same order. */
  readonly moves: ArrayLike<number>;
  readonly visits: ArrayLike<number>;
  /** The network's policy without temperature, in the same order; absent when unknown. */
  readonly priors?: ArrayLike<number>;
  readonly played: Move;
  readonly best: Move;
  readonly root: SearchValue;
  readonly playedValue: SearchValue;
  readonly bestValue: SearchValue;
  /** The network's own evaluation of the position; absent when unknown. */
  readonly network?: SearchValue;
  readonly isBestProven: boolean;
  /** Visits of the root. */
  readonly rootVisits: number;
}

export interface RecordedEnd {
  /** 1 White won, 0 drawn, −1 Black won. */
  readonly whiteResult: number;
  /** Plies played in all, counted as `ply` of the recorded positions. */
  readonly plies: number;
  readonly isAdjudicated: boolean;
  readonly isTooLong: boolean;
}

interface RecordedPosition {
  readonly record: V6Record;
  readonly ply: number;
  readonly isBlack: boolean;
}

const UNKNOWN: SearchValue = { q: Number.NaN, d: Number.NaN, m: Number.NaN };
/** lc0's smallest divergence; 0 would mean "not computed". */
const SMALLEST_KLD = 1.1754943508222875e-38;

const policy = unwrap(getPolicyEncoding('lc0-1858'));

/** Visit fractions; a single move that was never visited counts as certain. */
function setPolicy(record: V6Record, position: Position, transform: number, searched: SearchedPosition): void {
  const { moves, visits, priors } = searched;
  let total = 0;
  for (let i = 0; i < moves.length; i++) total += visits[i];
  let divergence = 0;
  let priorSum = 0;
  record.probabilities.fill(-1);
  for (let i = 0; i < moves.length; i++) {
    const fraction = total > 0 ? visits[i] / total : 1;
    record.probabilities[policy.moveToIndex(position, moves[i] as Move, transform)] = fraction;
    if (priors === undefined) continue;
    if (fraction > 0) divergence += fraction * Math.log(fraction / priors[i]);
    priorSum += priors[i];
  }
  record.policyKld = priors === undefined ? 0 : Math.max(divergence + Math.log(priorSum), 0) + SMALLEST_KLD;
  record.playedIndex = policy.moveToIndex(position, searched.played, transform);
  record.bestIndex = policy.moveToIndex(position, searched.best, transform);
}

export class V6GameRecorder {
  private readonly positions: RecordedPosition[] = [];
  private readonly format: Lc0Format;

  /** @param formatName an lc0 input encoding, `lc0-112` or one of lc0's enum names */
  constructor(
    formatName: string,
    private readonly historyFill: HistoryFill,
  ) {
    const format = LC0_FORMATS.find(({ name }) => name === formatName);
    if (format === undefined) throw new Error(`${formatName} is not an lc0 input format`);
    this.format = format;
  }

  get length(): number {
    return this.positions.length;
  }

  /** @param ply plies played before this position; they need not all be recorded */
  add(position: Position, ply: number, searched: SearchedPosition): void {
    const record = createV6Record();
    const transform = setV6Position(record, this.format, position, this.historyFill);
    setPolicy(record, position, transform, searched);
    const { root, bestValue, playedValue, network = UNKNOWN } = searched;
    record.rootQ = root.q;
    record.rootD = root.d;
    record.rootM = root.m;
    record.bestQ = bestValue.q;
    record.bestD = bestValue.d;
    record.bestM = bestValue.m;
    record.playedQ = playedValue.q;
    record.playedD = playedValue.d;
    record.playedM = playedValue.m;
    record.origQ = network.q;
    record.origD = network.d;
    record.origM = network.m;
    record.visits = searched.rootVisits;
    if (searched.isBestProven) record.invariance |= V6_PROVEN_BEST;
    this.positions.push({ record, ply, isBlack: position.sideToMove === BLACK });
  }

  /** The ply at which the game ended, or would have ended; if that is unknown, the ply of its adjudication. */
  private estimateLastPly(end: RecordedEnd): number {
    const last = this.positions.at(-1);
    if (!end.isAdjudicated || last === undefined || !knowsMovesLeft(last.record)) return end.plies;
    return Math.max(end.plies, last.ply + last.record.bestM);
  }

  /** The game's records, back to back; gzip them into one file a game, as lc0 does. */
  finish(end: RecordedEnd): Buffer {
    const lastPly = this.estimateLastPly(end);
    const bytes = Buffer.alloc(this.positions.length * V6_BYTES);
    this.positions.forEach(({ record, ply, isBlack }, i) => {
      record.resultQ = isBlack ? 0 - end.whiteResult : end.whiteResult;
      record.resultD = end.whiteResult === 0 ? 1 : 0;
      record.pliesLeft = lastPly - ply;
      if (end.isAdjudicated) record.invariance |= V6_ADJUDICATED;
      if (end.isTooLong) record.invariance |= V6_TOO_LONG;
      writeV6Record(record, bytes, i * V6_BYTES);
    });
    return bytes;
  }
}
