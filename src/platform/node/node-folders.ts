/**
 * Folders of this user: those of settings and of data, and the possible cache folders, best first, each with a folder for every kind of
 * file. Only programs have such folders; a page has none.
 */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { describeWriteFailure } from './node-files.js';

/**
 * The user's home; undefined where there is none: users of containers have no entry in /etc/passwd, or the home `/`, and those of
 * services have `/nonexistent`, which must not be created. A relative path names none: it would be another folder wherever the program
 * starts.
 */
export function findHome({ HOME }: NodeJS.ProcessEnv = process.env): string | undefined {
  const home = HOME || lookUpHome();
  return home && isAbsolute(home) && isFolder(home) && dirname(resolve(home)) !== resolve(home) ? home : undefined;
}

/** A folder of the XDG Base Directory Specification, which ignores relative paths. @param name such as XDG_DATA_HOME */
export function findXdgFolder(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const folder = environment[name];
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}

function lookUpHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** A folder for files of this run, also where TMPDIR names none. */
export function getTemporaryFolder(): string {
  return process.platform === 'win32' || isFolder(tmpdir()) ? tmpdir() : '/tmp';
}

/** Last resort, where the home folder cannot be written to. */
function listSharedPlaces(): string[] {
  return process.platform === 'linux' ? [getTemporaryFolder(), '/dev/shm'] : [getTemporaryFolder()];
}

/** Where settings are kept, by the convention of the system; undefined without a home. */
export function getConfigFolder(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return findUserFolder('CONFIG', '.config', environment);
}

/** Where a user's work is kept, by the convention of the system; undefined without a home. */
export function getDataFolder(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return findUserFolder('DATA', join('.local', 'share'), environment);
}

function findUserFolder(kind: 'CONFIG' | 'DATA', below: string, environment: NodeJS.ProcessEnv): string | undefined {
  const { [`SARDONYX_${kind}`]: own, APPDATA } = environment;
  if (own) return own;
  if (process.platform === 'win32') return APPDATA ? join(APPDATA, 'sardonyx') : undefined;
  const isMac = process.platform === 'darwin';
  const xdg = isMac ? undefined : findXdgFolder(`XDG_${kind}_HOME`, environment);
  if (xdg !== undefined) return join(xdg, 'sardonyx');
  const home = findHome(environment);
  if (home === undefined) return undefined;
  return isMac ? join(home, 'Library', 'Application Support', 'sardonyx') : join(home, below, 'sardonyx');
}

/** The possible cache folders of Sardonyx, best first; they need not exist. */
export function listCacheFolders(environment: NodeJS.ProcessEnv = process.env): string[] {
  const folders: string[] = [];
  const add = (...parts: (string | undefined)[]): void => {
    if (parts.every((part) => part !== undefined && part !== '')) folders.push(join(...(parts as string[])));
  };
  const home = findHome(environment);
  add(environment.SARDONYX_CACHE);
  if (process.platform === 'win32') add(environment.LOCALAPPDATA, 'sardonyx');
  else if (process.platform === 'darwin') add(home, 'Library', 'Caches', 'sardonyx');
  else {
    add(findXdgFolder('XDG_CACHE_HOME', environment), 'sardonyx');
    add(home, '.cache', 'sardonyx');
  }
  for (const shared of listSharedPlaces()) add(shared, `sardonyx-${process.getuid?.() ?? 'user'}`);
  return folders;
}

/**
 * Creates the folder for files of one kind, unless it exists.
 * @param cache one of `listCacheFolders`
 * @throws when it cannot be created, or when others may put files there
 */
export function openCacheFolder(cache: string, kind: string): string {
  const folder = join(cache, kind);
  createFolder(folder, 0o700);
  if (listSharedPlaces().includes(dirname(cache))) requireOwn(cache);
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
      // Try the next place.
    }
  }
  return undefined;
}

/** In a place that all users share, another user may have created the folder. */
function requireOwn(folder: string): void {
  if (process.platform === 'win32') return;
  const { uid, mode } = statSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error('others may write to it');
}

/**
 * Creates a folder and its missing parents. Node's own `recursive` is not used: where the system answers "no such folder"
 * although the parent exists, as below /proc, it tries again for ever.
 * @param mode permissions of each folder that is created
 * @throws one sentence for the user
 */
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
  return code === 'ENOENT' ? 'no folder can be created there' : describeWriteFailure(error);
}
