/**
 * Keeps two processes from writing the same results file: `FILE.lock` holds the number of the process that does, and when that
 * process started, because the system gives a number to another process later. A lock whose process has ended counts for nothing.
 */

import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { findProcessStart, isRunning } from '#platform/processes.js';
import { failure, type Result, success } from '../../base/util/index.js';

const LONGEST_LOCK_BYTES = 100;

/** @returns what releases it; the error is a sentence for the user */
export function lockResults(resultsPath: string): Result<() => void> {
  const path = `${resultsPath}.lock`;
  const owner = findLockOwner(resultsPath);
  if (owner !== null) return failure(`${resultsPath} is in use: process ${owner} plays this match`);
  try {
    // Another process may have been a moment faster.
    rmSync(path, { force: true });
    writeFileSync(path, `${process.pid} ${findProcessStart(process.pid) ?? ''}`.trim(), { flag: 'wx' });
  } catch (error) {
    return failure(`${resultsPath} cannot be locked: ${(error as Error).message}`);
  }
  return success(() => rmSync(path, { force: true }));
}

/** The other process that plays the match; null when none does. */
export function findLockOwner(resultsPath: string): number | null {
  const lock = readLock(`${resultsPath}.lock`);
  if (lock === null || lock.owner === process.pid || !isRunning(lock.owner)) return null;
  const start = lock.start === '' ? null : findProcessStart(lock.owner);
  return start === null || start === lock.start ? lock.owner : null;
}

function readLock(path: string): { readonly owner: number; readonly start: string } | null {
  try {
    // Not a pipe, nor a large file: the folder may come from a stranger.
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > LONGEST_LOCK_BYTES) return null;
    const [, number = '', start = ''] = /^(\d+)(?: (.*))?$/.exec(readFileSync(path, 'utf8').trim()) ?? [];
    const owner = Number(number);
    return Number.isSafeInteger(owner) && owner > 0 ? { owner, start } : null;
  } catch {
    return null;
  }
}
