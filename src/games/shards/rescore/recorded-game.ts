/**
 * A game of lc0 records, with the position of each record and its history. Also here: deblundering: results before an error give
 * way to the value of the record's own search.
 */

import { failure, type Result, success, unwrap } from '../../../base/util/index.js';
import { listLegalMoves, NO_MOVE, type Position } from '../../../chess/rules/index.js';
import { getPolicyEncoding, LC0_FORMATS, type Lc0Format, type PolicyIndex } from '../../../networks/encoding/index.js';
import type { GameLine } from '../../records/index.js';
import {
  createV6Record,
  knowsMovesLeft,
  PositionFinder,
  readV6Record,
  setV6Position,
  V6_ADJUDICATED,
  V6_DELETED,
  V6_MOVES,
  V6_PROVEN_BEST,
  V6_TOO_LONG,
  type V6Record,
  writeV6Record,
} from '../../records/index.js';

/** The bits of `invariance` that say nothing about the input format. */
const KEPT_BITS = V6_PROVEN_BEST | V6_TOO_LONG | V6_ADJUDICATED | V6_DELETED;

const policy = unwrap(getPolicyEncoding('lc0-1858'));

export interface RecordedPosition {
  readonly record: V6Record;
  readonly position: Position;
  /** The board transform of the record's format, for the policy encoding. */
  readonly transform: number;
  /** Plies since the first position, by the moves or the plies left; if these are unknown, the number of the record. */
  readonly ply: number;
}

export interface RecordedGame {
  readonly positions: readonly RecordedPosition[];
  readonly recordBytes: number;
}

export function readRecordedGame(
  bytes: Buffer,
  recordBytes: number,
  line: GameLine | null = null,
): Result<RecordedGame> {
  const positions: RecordedPosition[] = [];
  const finder = new PositionFinder(line);
  for (let at = 0; at < bytes.length; at += recordBytes) {
    const record = createV6Record();
    const read = readV6Record(bytes, at, record);
    if (!read.ok) return read;
    const format = LC0_FORMATS.find(({ id }) => id === record.inputFormat);
    if (format === undefined) return failure(`The input format ${record.inputFormat} is unknown`);
    const found = finder.next(record, format);
    if (!found.ok) return found;
    const transform = format.canonical ? record.invariance & 7 : 0;
    positions.push({ record, position: found.value.clone(), transform, ply: finder.ply });
  }
  return success({ positions, recordBytes });
}

/** The game with its records in another input format (rescorer.cc: ChangeInputFormat). The records themselves are changed. */
export function changeInputFormat({ positions, recordBytes }: RecordedGame, format: Lc0Format): RecordedGame {
  const changed = positions.map((recorded): RecordedPosition => {
    const { record, position } = recorded;
    const kept = record.invariance & KEPT_BITS;
    const transform = setV6Position(record, format, position, 'no');
    record.invariance |= kept;
    return { ...recorded, transform };
  });
  changed.forEach(({ record, position, transform }, i) => {
    const { transform: before } = positions[i];
    record.probabilities.set(changePolicy(position, record.probabilities, before, transform));
    record.playedIndex = changeIndex(position, record.playedIndex, before, transform);
    record.bestIndex = changeIndex(position, record.bestIndex, before, transform);
    if (record.v7 === null) return;
    const [next, afterNext] = [i + 1, i + 2].map((at) => (index: number): number => {
      const isThere = at < positions.length;
      return isThere
        ? changeIndex(positions[at].position, index, positions[at].transform, changed[at].transform)
        : index;
    });
    record.v7.opponentIndex = next(record.v7.opponentIndex);
    record.v7.nextIndex = afterNext(record.v7.nextIndex);
  });
  return { positions: changed, recordBytes };
}

/** A policy of a position with the moves where another transform of the board has them; illegal ones are −1. */
export function changePolicy(position: Position, from: Float32Array, before: number, transform: number): Float32Array {
  if (before === transform) return from;
  const probabilities = new Float32Array(V6_MOVES).fill(-1);
  for (const move of listLegalMoves(position)) {
    probabilities[policy.moveToIndex(position, move, transform)] = from[policy.moveToIndex(position, move, before)];
  }
  return probabilities;
}

/** An index that is no move of the position stays. */
function changeIndex(position: Position, index: number, before: number, transform: number): number {
  const move = before === transform ? NO_MOVE : policy.indexToMove(position, index as PolicyIndex, before);
  return move === NO_MOVE ? index : policy.moveToIndex(position, move, transform);
}

/** The records, back to back. */
export function writeRecordedGame({ positions, recordBytes }: RecordedGame): Buffer {
  const bytes = Buffer.alloc(positions.length * recordBytes);
  positions.forEach(({ record }, i) => {
    writeV6Record(record, bytes, i * recordBytes);
  });
  return bytes;
}

// Deblundering: after an error, the result of a game says little about the positions before it. So at the error, and in all
// positions before it, the result is replaced by the value that the record's own search gave the best move. Source: lc0,
// trainingdata/rescorer.cc (ApplyDeblunder).

export interface DeblunderSettings {
  /** By how much W − L of the played move must be below the best move's to count as an error. */
  readonly threshold: number;
  /** Around the threshold the old result and the new value are mixed over this width; 0 = no mixing. */
  readonly width: number;
}

/** In White's view. */
interface Outcome {
  readonly q: number;
  readonly d: number;
  /** Ply at which the game is expected to end. */
  readonly lastPly: number;
}

/** A forced win was missed, or the player went into a proven loss without need. */
function isProvenError({ bestQ, playedQ, invariance }: V6Record): boolean {
  return bestQ > -1 && playedQ < 1 && ((bestQ === 1 && (invariance & V6_PROVEN_BEST) !== 0) || playedQ === -1);
}

/** Weight of the best move's value against the game's outcome: from 0 (no error) to 1. */
export function computeErrorShare(record: V6Record, { threshold, width }: DeblunderSettings): number {
  if (isProvenError(record)) return 1;
  const loss = record.bestQ - record.playedQ;
  if (loss <= threshold - width / 2) return 0;
  return width > 0 ? Math.min(1, (loss - threshold) / width + 0.5) : 1;
}

/**
 * @param end number of positions to examine, from the start of the game; the others have results from tablebases
 * @returns the number of errors found; always 0 for records of old lc0 versions, which have no results of the search
 */
export function deblunder(game: RecordedGame, settings: DeblunderSettings, end = game.positions.length): number {
  const positions = game.positions.slice(0, end);
  const last = positions.at(-1);
  if (last === undefined || last.record.visits === 0) return 0;
  const toWhite = (isBlack: boolean, q: number): number => (isBlack ? 0 - q : q);
  let outcome: Outcome | null = null;
  let errors = 0;
  for (const { record, position, ply } of positions.reverse()) {
    const isBlack = position.sideToMove === 1;
    const share = computeErrorShare(record, settings);
    if (share > 0) {
      const old: Outcome = outcome ?? {
        q: toWhite(isBlack, record.resultQ),
        d: record.resultD,
        lastPly: ply + record.pliesLeft,
      };
      outcome = {
        q: mix(old.q, toWhite(isBlack, record.bestQ), share),
        d: mix(old.d, record.bestD, share),
        lastPly: knowsMovesLeft(record) ? mix(old.lastPly, ply + record.bestM, share) : old.lastPly,
      };
      errors++;
    }
    if (outcome === null) continue;
    record.resultQ = toWhite(isBlack, outcome.q);
    record.resultD = outcome.d;
    record.pliesLeft = outcome.lastPly - ply;
  }
  return errors;
}

function mix(old: number, other: number, share: number): number {
  return (1 - share) * old + share * other;
}
