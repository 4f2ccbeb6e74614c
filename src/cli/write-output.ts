/**
 * Where output goes: stdout, stderr and the files of commands; a failure is one sentence. stdout gets whole lines, written
 * synchronously, so that none is lost or delayed when the process ends. When the reader closes the pipe (EPIPE), the
 * conversation is over; that is no error.
 */
import { accessSync, constants, statSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import { describeWriteFailure } from '#platform/files.js';
import { getErrorMessage, showControls } from '../base/util/result.js';

/** @param flag `w` for a new file, `a` to add to one */
export async function writeOutput(path: string, content: Uint8Array | string, flag: 'w' | 'a' = 'w'): Promise<void> {
  try {
    await writeFile(path, content, { flag });
  } catch (error) {
    throw new Error(`Cannot write ${path}: ${describeWriteFailure(error)}`);
  }
}

/** Called at the start of a long command, before it has anything to write. Throws one sentence; creates nothing. */
export function requireWritable(path: string): void {
  const reason = findWriteObstacle(path);
  if (reason !== null) throw new Error(`Cannot write ${path}: ${reason}`);
}

/** Like requireWritable, and refuses to overwrite the input. @param flag the flag that names the output */
export function requireOtherFile(flag: string, output: string, input: string): void {
  requireWritable(output);
  // Names say little: Windows ignores case, and a file may have several.
  const [written, read] = [output, input].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  if (written !== undefined && written.dev === read?.dev && written.ino === read.ino) {
    throw new Error(`${flag} names the file that is read: give another name`);
  }
}

/** @returns why the file cannot be written, null if it can be. */
export function findWriteObstacle(path: string): string | null {
  if (path === '') return 'the name is empty';
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return 'it is a folder';
    // With the dot, the check fails if the parent is a file.
    accessSync(stats === undefined ? `${dirname(path)}/.` : path, constants.W_OK);
    return null;
  } catch (error) {
    return describeWriteFailure(error);
  }
}

const STDOUT = 1;

/** @param isRaw it has colours of ours, or goes into a file; in other lines controls, which may come from a stranger, are shown as text */
type WriteLine = (line: string, isRaw?: boolean) => void;

/** A sentence or more on stderr; control characters in it are shown as text. */
export function writeNote(line: string): void {
  process.stderr.write(`${showControls(line)}\n`);
}

/** The first line of an error's message: causes and stacks may follow it. */
export function describeError(error: unknown): string {
  return getErrorMessage(error).split('\n')[0];
}

/** Says why stdout cannot be written, and sets the exit status; a reader that has closed the pipe (EPIPE) is no error. */
export function reportWriteFailure(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
  process.stderr.write(`Cannot write the output: ${describeWriteFailure(error)}\n`);
  process.exitCode = 1;
}

/** @param onClosed called once, when the reader has closed the pipe or stdout cannot be written */
export function createStdoutWriter(onClosed: () => void): WriteLine {
  let isClosed = false;
  return (line, isRaw = false) => {
    if (isClosed) return;
    try {
      writeAll(Buffer.from(`${isRaw ? line : showControls(line)}\n`));
    } catch (error) {
      reportWriteFailure(error);
      isClosed = true;
      onClosed();
    }
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

const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));

/** Node 20 aborts at its exit when a terminal that it started in is gone. So the hang-up ends the process, as it ends others. */
export function endProcess(status?: number): never {
  if (terminals.some((descriptor) => !isatty(descriptor))) {
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  }
  process.exit(status ?? process.exitCode);
}
