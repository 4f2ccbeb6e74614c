/**
 * Where this user's cached files go: one folder of ours in each place that systems have for it, best first, and in it one
 * for each kind of files.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFolder } from './create-folder.js';

/** Last resort, where the home folder cannot be written to. */
const SHARED_PLACES = process.platform === 'linux' ? [tmpdir(), '/dev/shm'] : [tmpdir()];

export function listCacheFolders(environment: NodeJS.ProcessEnv = process.env): string[] {
  const folders: string[] = [];
  const add = (...parts: (string | undefined)[]): void => {
    if (parts.every((part) => part !== undefined && part !== '')) folders.push(join(...(parts as string[])));
  };
  const home = environment.HOME || homedir();
  add(environment.SARDONYX_CACHE);
  if (process.platform === 'win32') add(environment.LOCALAPPDATA, 'sardonyx');
  else if (process.platform === 'darwin') add(home, 'Library', 'Caches', 'sardonyx');
  else {
    add(environment.XDG_CACHE_HOME, 'sardonyx');
    add(home, '.cache', 'sardonyx');
  }
  for (const shared of SHARED_PLACES) add(shared, `sardonyx-${process.getuid?.() ?? 'user'}`);
  return folders;
}

/**
 * Makes the folder for files of one kind, if it is not there.
 * @param cache one of `listCacheFolders`
 * @throws when it cannot be made, or when others may put files there
 */
export function openCacheFolder(cache: string, kind: string): string {
  const folder = join(cache, kind);
  createFolder(folder, 0o700);
  if (SHARED_PLACES.includes(dirname(cache))) requireOwn(cache);
  return folder;
}

/** The folder for files of one kind in the first place that can be written to; undefined when there is none. */
export function findCacheFolder(kind: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  for (const cache of listCacheFolders(environment)) {
    try {
      const folder = openCacheFolder(cache, kind);
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // The next place, then.
    }
  }
  return undefined;
}

/** A folder in a place that all users share may have been laid there by another one. */
function requireOwn(folder: string): void {
  if (process.platform === 'win32') return;
  const { uid, mode } = statSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error('others may write to it');
}
