/**
 * A game of lc0 records, with the position of each record. Consecutive records give a position the history of the moves
 * between them. Where records are missing, as with playout cap randomisation, a position has no history.
 */
import type { Position } from '../../chess/index.js';
import { NO_MOVE } from '../../chess/index.js';
import { getPolicyEncoding, LC0_FORMATS } from '../../encoding/index.js';
import { failure, type Result, success, unwrap } from '../../util/index.js';
import { findPosition } from '../v6-position.js';
import { createV6Record, readV6Record, type V6Record, writeV6Record } from '../v6-record.js';

export interface RecordedPosition {
  readonly record: V6Record;
  readonly position: Position;
  /** The board transform of the record's format, for the policy encoding. */
  readonly transform: number;
  /** Plies since the first record, computed from the plies left; if these are unknown, the number of the record. */
  readonly ply: number;
}

export interface RecordedGame {
  readonly positions: readonly RecordedPosition[];
  readonly recordBytes: number;
}

const policy = unwrap(getPolicyEncoding('lc0-1858'));

export function readRecordedGame(bytes: Buffer, recordBytes: number): Result<RecordedGame> {
  const positions: RecordedPosition[] = [];
  let expected: Position | null = null;
  for (let at = 0; at < bytes.length; at += recordBytes) {
    const record = createV6Record();
    const read = readV6Record(bytes, at, record);
    if (!read.ok) return read;
    const format = LC0_FORMATS.find(({ id }) => id === record.inputFormat);
    if (format === undefined) return failure(`The input format ${record.inputFormat} is unknown`);
    const found: Result<Position> = findPosition(expected, record, format);
    if (!found.ok) return found;
    const transform = format.canonical ? record.invariance & 7 : 0;
    const position = found.value;
    positions.push({ record, position: position.clone(), transform, ply: countPlies(positions, record) });
    const played = policy.indexToMove(position, record.playedIndex as never, transform);
    if (played !== NO_MOVE) position.makeMove(played);
    expected = played === NO_MOVE ? null : position;
  }
  return success({ positions, recordBytes });
}

function countPlies(before: readonly RecordedPosition[], record: V6Record): number {
  const previous = before.at(-1);
  if (previous === undefined) return 0;
  const passed = previous.record.pliesLeft - record.pliesLeft;
  return previous.ply + (passed >= 1 ? Math.round(passed) : 1);
}

/** The records, back to back. */
export function writeRecordedGame({ positions, recordBytes }: RecordedGame): Buffer {
  const bytes = Buffer.alloc(positions.length * recordBytes);
  positions.forEach(({ record }, i) => {
    writeV6Record(record, bytes, i * recordBytes);
  });
  return bytes;
}
