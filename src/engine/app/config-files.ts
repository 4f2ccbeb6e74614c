/**
 * Config files: where they may be, and the flags in them. They have lc0's format: one `--flag=value` a line, dashes optional, `#`
 * starts a comment.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import { findHome, findXdgFolder, getConfigFolder } from '#platform/folders.js';
import { getProgramFolder } from '#platform/program-files.js';
import { failure, type Result, success } from '../../base/util/result.js';

const LARGEST_CONFIG_BYTES = 1 << 16;

/** Files that are read if the user names none, in this order, each from the first folder that has it. */
export function findDefaultConfigs(): string[] {
  return listConfigPlaces().flatMap((places) => places.find((path) => existsSync(path)) ?? []);
}

/**
 * Where lc0's config file and ours may be. lc0's file is read first, so that our file overrules it. The current folder
 * comes before lc0's places (utils/configfile.cc): beside the program, the user's folder, the system's folders.
 */
export function listConfigPlaces(
  programFolder = getProgramFolder(),
  environment: NodeJS.ProcessEnv = process.env,
): readonly (readonly string[])[] {
  const here = ['', programFolder];
  const own = getConfigFolder(environment);
  return [
    [...here, ...listLc0Folders(environment)].map((folder) => join(folder, 'lc0.config')),
    (own === undefined ? here : [...here, own]).map((folder) => join(folder, 'sardonyx.config')),
  ];
}

/** Unless that is the program's folder too, or the user's: only those who may change them put a file there. */
export function isOfCurrentFolder(path: string): boolean {
  if (path !== basename(path)) return false;
  return !listConfigPlaces().some((places) =>
    places.some((place) => place !== path && resolve(place) === resolve(path)),
  );
}

function listLc0Folders(environment: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'win32') return [];
  const { XDG_CONFIG_DIRS } = environment;
  const home = findHome(environment);
  const inHome = (...parts: string[]): string[] => (home === undefined ? [] : [join(home, ...parts)]);
  if (process.platform === 'darwin') return inHome('Library', 'Preferences', 'lc0');
  const set = findXdgFolder('XDG_CONFIG_HOME', environment);
  const own = set === undefined ? inHome('.config') : [set];
  const folders = [...own, ...(XDG_CONFIG_DIRS || '/etc/xdg').split(':')];
  return folders.filter(isAbsolute).map((folder) => join(folder, 'lc0'));
}

export function parseConfig(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('-') ? line : `--${line}`))
    .map((line) => line.replace(/^(--?[\w-]+)(?:\s*=\s*|\s+)/, '$1='));
}

/** In UTF-8, or in UTF-16 as PowerShell's `>` writes it. */
function decodeConfig(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('latin1');
  const encoding = mark === '\xff\xfe' ? 'utf-16le' : mark === '\xfe\xff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** @returns the flags of the file; null if it does not exist */
export function readConfig(path: string): Result<string[]> | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > LARGEST_CONFIG_BYTES) {
      return failure(
        `Cannot read the config file ${path}: ${stats.isDirectory() ? 'it is a folder' : 'it is no text file of 64 kB at most'}`,
      );
    }
    return success(parseConfig(decodeConfig(readFileSync(path))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    return failure(`Cannot read the config file ${path}: ${describeReadFailure(error)}`);
  }
}
