/** A game of lc0 records, with the position of each record and its history. */
import type { Position } from '../../chess/index.js';
import { LC0_FORMATS } from '../../encoding/index.js';
import { failure, type Result, success } from '../../util/index.js';
import type { GameLine } from '../game-line.js';
import { PositionFinder } from '../v6-position.js';
import { createV6Record, readV6Record, type V6Record, writeV6Record } from '../v6-record.js';

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

/** The records, back to back. */
export function writeRecordedGame({ positions, recordBytes }: RecordedGame): Buffer {
  const bytes = Buffer.alloc(positions.length * recordBytes);
  positions.forEach(({ record }, i) => {
    writeV6Record(record, bytes, i * recordBytes);
  });
  return bytes;
}
