/** A game of lc0 records, with the position of each record and its history. */

import { failure, type Result, success } from '../../../base/util/index.js';
import { listLegalMoves, NO_MOVE, type Position } from '../../../chess/rules/index.js';
import { LC0_FORMATS, type Lc0Format, type PolicyIndex } from '../../../networks/encoding/index.js';
import {
  createV6Record,
  type GameLine,
  PositionFinder,
  type RawV6Game,
  readV6Record,
  setV6Position,
  V6_ADJUDICATED,
  V6_DELETED,
  V6_MOVES,
  V6_PROVEN_BEST,
  V6_TOO_LONG,
  type V6Record,
  v6Policy,
  writeV6Record,
} from '../../records/index.js';

/** The bits of `invariance` that say nothing about the input format. */
const KEPT_BITS = V6_PROVEN_BEST | V6_TOO_LONG | V6_ADJUDICATED | V6_DELETED;

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
  /** The game's moves, where its file holds them. */
  readonly line: GameLine | null;
}

export function readRecordedGame(raw: RawV6Game): Result<RecordedGame> {
  if (!raw.ok) return raw;
  const { bytes, recordBytes, line } = raw.value;
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
    const { transform, ply } = finder;
    positions.push({ record, position: found.value.clone(), transform, ply });
  }
  return success({ positions, recordBytes, line });
}

/** The game with its records in another input format (rescorer.cc: ChangeInputFormat). The records themselves are changed. */
export function changeInputFormat(game: RecordedGame, format: Lc0Format): RecordedGame {
  const { positions } = game;
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
  return { ...game, positions: changed };
}

/** A policy of a position with the moves where another transform of the board has them; illegal ones are −1. */
export function changePolicy(position: Position, from: Float32Array, before: number, transform: number): Float32Array {
  if (before === transform) return from;
  const probabilities = new Float32Array(V6_MOVES).fill(-1);
  for (const move of listLegalMoves(position)) {
    probabilities[v6Policy.moveToIndex(position, move, transform)] = from[v6Policy.moveToIndex(position, move, before)];
  }
  return probabilities;
}

/** An index that is no move of the position stays. */
function changeIndex(position: Position, index: number, before: number, transform: number): number {
  const move = before === transform ? NO_MOVE : v6Policy.indexToMove(position, index as PolicyIndex, before);
  return move === NO_MOVE ? index : v6Policy.moveToIndex(position, move, transform);
}

/** The records, back to back. */
export function writeRecordedGame({ positions, recordBytes }: RecordedGame): Buffer {
  const bytes = Buffer.alloc(positions.length * recordBytes);
  positions.forEach(({ record }, i) => {
    writeV6Record(record, bytes, i * recordBytes);
  });
  return bytes;
}
