/**
 * Writes one Arrow file. Its name ends in `.part` until it is complete, so readers never take the file of an interrupted
 * run for a shard.
 */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { AsyncByteQueue, type RecordBatch, RecordBatchFileWriter, type Schema } from 'apache-arrow';

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
    this.writer.reset(new FileSink(this.descriptor) as never, schema as never);
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
