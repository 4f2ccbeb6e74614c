/**
 * A stream to stdout that never waits for the reader. A client may send many queries before it reads an answer; a program that
 * blocked on its output would then never read them. What is written is queued in memory and goes out in order.
 */

import { write } from 'node:fs';
import { Writable } from 'node:stream';

const STDOUT = 1;
const RETRY_MS = 2;

/** @param onFailure called when nothing more can be written: EPIPE = the reader has closed the pipe */
export function createQueuedWriter(onFailure: (error: Error) => void): Writable {
  const writeAll = (bytes: Buffer, onWritten: () => void): void => {
    write(STDOUT, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(writeAll, RETRY_MS, bytes, onWritten);
      else if (error !== null) onFailure(error);
      else if (written < bytes.length) writeAll(bytes.subarray(written), onWritten);
      else onWritten();
    });
  };
  return new Writable({
    writev: (chunks, onWritten) => writeAll(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), onWritten),
  });
}
