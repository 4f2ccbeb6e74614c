/**
 * Keeps two processes from writing the same results file: `FILE.lock` holds the number of the process that does. A lock whose
 * process has ended, or was killed, counts for nothing.
 */
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { failure, type Result, success } from '../../util/index.js';

const LONGEST_LOCK_BYTES = 20;

/** @returns what releases it; the error is a sentence for the user */
export function lockResults(resultsPath: string): Result<() => void> {
  const path = `${resultsPath}.lock`;
  const owner = findLockOwner(resultsPath);
  if (owner !== null) return failure(`${resultsPath} is in use: process ${owner} plays this match`);
  try {
    // Another process may have been a moment faster.
    rmSync(path, { force: true });
    writeFileSync(path, String(process.pid), { flag: 'wx' });
  } catch (error) {
    return failure(`${resultsPath} cannot be locked: ${(error as Error).message}`);
  }
  return success(() => rmSync(path, { force: true }));
}

/** The other process that plays the match; null when none does. */
export function findLockOwner(resultsPath: string): number | null {
  const path = `${resultsPath}.lock`;
  let owner: number;
  try {
    // Not a pipe, nor a large file: the folder may come from a stranger.
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > LONGEST_LOCK_BYTES) return null;
    owner = Number(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
  if (!Number.isSafeInteger(owner) || owner <= 0 || owner === process.pid) return null;
  try {
    process.kill(owner, 0);
    return owner;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? owner : null;
  }
}
