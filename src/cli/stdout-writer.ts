/**
 * The writer of stdout. It writes whole lines synchronously, so that none is lost or delayed when the process ends. When the
 * reader closes the pipe (EPIPE), the conversation is over; that is no error.
 */
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { describeWriteFailure } from '#platform/files.js';
import { showControls } from '../util/result.js';

const STDOUT = 1;

interface LineWriter {
  /** @param isStyled its colours are ours; otherwise control characters, which may be a stranger's, are shown as text */
  writeLine(line: string, isStyled?: boolean): void;
}

/** A sentence or more on stderr; control characters in it are shown as text. */
export function writeNote(line: string): void {
  process.stderr.write(`${showControls(line)}\n`);
}

export function createStdoutWriter(onClosed: () => void): LineWriter {
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onClosed();
  };
  return {
    writeLine: (line, isStyled = false) => {
      if (isClosed) return;
      try {
        writeAll(Buffer.from(`${isStyled ? line : showControls(line)}\n`));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EPIPE') {
          process.stderr.write(`Cannot write the output: ${describeWriteFailure(error)}\n`);
          process.exitCode = 1;
        }
        close();
      }
    },
  };
}

/** A console of Windows takes UTF-16, which only Node's own stream gives it; there it writes at once. */
const isWindowsConsole = process.platform === 'win32' && isatty(STDOUT);

/** A non-blocking pipe with a slow reader returns EAGAIN: wait a millisecond and continue. */
function writeAll(bytes: Buffer): void {
  if (isWindowsConsole) {
    process.stdout.write(bytes);
    return;
  }
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
