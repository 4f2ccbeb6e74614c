/**
 * The one way to make a folder and those above it, where they are not there. Node's own `recursive` is not used: where the
 * system says "no such folder" although the folder above is there, as below /proc, it tries again for ever.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeWriteFailure } from './file-failure.js';

/** @param mode permissions of each folder that is made @throws one sentence for the user */
export function createFolder(path: string, mode = 0o777): void {
  try {
    if (path === '') throw new Error('the name is empty');
    makeFolder(path, mode);
  } catch (error) {
    throw new Error(`Cannot create the folder ${path}: ${describeFailure(error)}`);
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const above = dirname(path);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && above !== path && !isFolder(above)) {
      makeFolder(above, mode);
      makeFolder(path, mode);
    } else if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function describeFailure(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'there is a file of that name';
  return code === 'ENOENT' ? 'no folder can be made there' : describeWriteFailure(error);
}
