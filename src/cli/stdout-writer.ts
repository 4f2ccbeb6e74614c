/**
 * The writer of stdout. Lines go out whole and at once: when stdout is a pipe or a file
 * they are written synchronously, so that nothing is lost or delayed when the process ends or the GUI polls.
 * A reader that has gone away (EPIPE) is the end of the conversation, not an error.
 */
import { writeSync } from 'node:fs';
import { describeWriteFailure } from '#platform/files.js';

const STDOUT = 1;

interface LineWriter {
  writeLine(line: string): void;
}

export function createStdoutWriter(onClosed: () => void): LineWriter {
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onClosed();
  };
  return {
    writeLine: (line) => {
      if (isClosed) return;
      try {
        writeAll(Buffer.from(`${line}\n`));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EPIPE') {
          throw new Error(`Cannot write the output: ${describeWriteFailure(error)}`);
        }
        close();
      }
    },
  };
}

/** A non-blocking pipe whose reader is slow answers EAGAIN: then wait a little and go on where we were. */
function writeAll(bytes: Buffer): void {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(STDOUT, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
