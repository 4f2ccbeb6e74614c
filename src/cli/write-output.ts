/** Output files of commands; a failure is one sentence. */
import { accessSync, constants, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeWriteFailure } from '#platform/files.js';

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
