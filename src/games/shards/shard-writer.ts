/**
 * Writes the rows of one input file to Arrow files in `train/`, `validation/` and `test/`. The rows are split into parts, always
 * between two games. A part is complete in all three folders or absent, so that a long input can be resumed.
 *
 * A file's name ends in `.part` until the file is complete, so readers never take the file of an interrupted run for a shard.
 */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AsyncByteQueue, type RecordBatch, RecordBatchFileWriter, type Schema } from 'apache-arrow';
import { createFolder } from '#platform/folders.js';
import { unwrap } from '../../base/util/index.js';
import type { Position } from '../../chess/rules/index.js';
import {
  getInputEncoding,
  getPolicyEncoding,
  type InputEncoding,
  type PolicyEncoding,
} from '../../networks/encoding/index.js';
import type { EncodedRow, GameSink, TrainingRow } from '../records/index.js';
import { createShardSchema, ShardBatch } from './shard-batch.js';
import type { ShardsTask } from './shards-messages.js';
import { chooseSplit, SPLITS, type Split, type SplitCounts } from './splits.js';

/** About 200 MB of lc0 planes. */
const PART_ROWS = 200_000;

/** The rows of one split. */
interface Lane {
  readonly split: Split;
  readonly batch: ShardBatch;
  file: ShardFile | null;
}

export function formatShardName(inputNumber: number, part: number): string {
  return `${String(inputNumber).padStart(4, '0')}-${String(part).padStart(3, '0')}.arrow`;
}

export class ShardWriter implements GameSink {
  private readonly input: InputEncoding;
  private readonly policy: PolicyEncoding;
  private readonly schema: Schema;
  private readonly lanes = new Map<Split, Lane>();
  /** Of the current game. */
  private lane: Lane;
  private counts: SplitCounts = { train: 0, validation: 0, test: 0 };
  private part: number;

  constructor(private readonly task: ShardsTask) {
    this.input = unwrap(getInputEncoding(task.settings.input));
    this.policy = unwrap(getPolicyEncoding(task.settings.policy));
    this.schema = createShardSchema(this.input, this.policy);
    this.part = task.firstPart;
    this.lane = this.openLane('train');
  }

  beginGame(gameHash: number): void {
    const { onlySplit, settings } = this.task;
    this.lane = this.openLane(onlySplit ?? chooseSplit(gameHash, settings.shares));
  }

  append(position: Position, legalMoves: Uint16Array, legalCount: number, row: TrainingRow): void {
    this.lane.batch.append(position, this.task.settings.historyFill, legalMoves, legalCount, row);
    this.endRow();
  }

  appendEncoded(encoded: EncodedRow, row: TrainingRow): void {
    this.lane.batch.appendEncoded(encoded, row);
    this.endRow();
  }

  accepts(inputEncoding: string, policyEncoding: string): boolean {
    return inputEncoding === this.input.name && policyEncoding === this.policy.name;
  }

  private openLane(split: Split): Lane {
    const known = this.lanes.get(split);
    if (known !== undefined) return known;
    const lane = { split, batch: new ShardBatch(this.schema, this.input, this.policy), file: null };
    this.lanes.set(split, lane);
    return lane;
  }

  private endRow(): void {
    this.counts[this.lane.split]++;
    if (this.lane.batch.isFull) this.flush(this.lane);
  }

  /** Whether the part should end with the current game. */
  get isPartFull(): boolean {
    return this.counts.train + this.counts.validation + this.counts.test >= PART_ROWS;
  }

  /** Completes the files of this part; rows that follow go to the next one. Returns the rows written. */
  finishPart(): SplitCounts {
    for (const split of SPLITS) {
      const lane = this.lanes.get(split);
      if (lane === undefined) continue;
      if (lane.batch.rows > 0) this.flush(lane);
      lane.file?.finish();
      lane.file = null;
    }
    const counts = this.counts;
    this.counts = { train: 0, validation: 0, test: 0 };
    this.part++;
    return counts;
  }

  private flush(lane: Lane): void {
    if (lane.file === null) {
      const folder = join(this.task.folder, lane.split);
      createFolder(folder);
      const path = join(folder, formatShardName(this.task.inputNumber, this.part));
      lane.file = new ShardFile(path, this.schema);
    }
    lane.file.write(lane.batch.toRecordBatch());
    lane.batch.clear();
  }
}

export const PART_SUFFIX = '.part';

/** Arrow's sink. It writes at once and queues nothing, so a batch may be reused as soon as it is written. */
class FileSink extends AsyncByteQueue {
  constructor(private readonly descriptor: number) {
    super();
  }

  override write(chunk: Uint8Array): void {
    let done = 0;
    while (done < chunk.byteLength) done += writeSync(this.descriptor, chunk, done);
  }
}

export class ShardFile {
  private readonly descriptor: number;
  private readonly writer = new RecordBatchFileWriter();

  constructor(
    readonly path: string,
    schema: Schema,
  ) {
    this.descriptor = openSync(path + PART_SUFFIX, 'w');
    this.writer.reset(new FileSink(this.descriptor), schema);
  }

  write(batch: RecordBatch): void {
    this.writer.write(batch);
  }

  finish(): void {
    this.writer.close();
    closeSync(this.descriptor);
    renameSync(this.path + PART_SUFFIX, this.path);
  }
}
