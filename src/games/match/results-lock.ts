/**
 * Keeps two processes from writing the same results file: `FILE.lock` holds the number of the process that does, and when that
 * process started, because the system gives a number to another process later. A lock whose process has ended counts for nothing.
 */

import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    writeFileSync(path, `${process.pid} ${readStart(process.pid) ?? ''}`.trim(), { flag: 'wx' });
  } catch (error) {
    return failure(`${resultsPath} cannot be locked: ${(error as Error).message}`);
  }
  return success(() => rmSync(path, { force: true }));
}

/** The other process that plays the match; null when none does. */
export function findLockOwner(resultsPath: string): number | null {
  const lock = readLock(`${resultsPath}.lock`);
  if (lock === null || lock.owner === process.pid || !isAlive(lock.owner)) return null;
  const start = lock.start === '' ? null : readStart(lock.owner);
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended answers as long as nobody has asked for its exit status: in a container without an init, for ever.
    return process.platform !== 'linux' || !/^[ZX]$/.test(readStat(pid)[0]);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The fields of Linux from the third on; the second, the program's name, may hold spaces and brackets. */
function readStat(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
}

/** When a process started, in the system's own words; null where the system does not say. */
function readStart(pid: number): string | null {
  try {
    // The 22nd field.
    if (process.platform === 'linux') return readStat(pid)[19] ?? null;
    const [program, args] =
      process.platform === 'win32'
        ? ['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]]
        : ['ps', ['-o', 'lstart=', '-p', String(pid)]];
    const said = execFileSync(program as string, args as string[], {
      encoding: 'utf8',
      timeout: 10_000,
      windowsHide: true,
      stdio: 'pipe',
    });
    return said.trim() === '' ? null : said.trim();
  } catch {
    return null;
  }
}
