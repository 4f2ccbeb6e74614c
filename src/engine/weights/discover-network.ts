/**
 * Looks for a network in the places where lc0 looks (`DiscoverWeightsFile` in its neural/loader.cc): beside the program, in the
 * user's and then the system's data folder `lc0`, and in a folder `networks` of each. It takes the newest file of the first place
 * that has any. lc0's networks are recognised by their content, since many have no extension; ONNX files have no such mark and
 * are recognised by their names.
 */

import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { readFilePart } from '#platform/files.js';
import { findHome, findXdgFolder } from '#platform/folders.js';
import { isGzip } from '../../base/util/index.js';

/** Smaller files are not networks; lc0 has the same limit. */
const MIN_FILE_BYTES = 500_000;
const HEAD_BYTES = 1024;

/** @param programFolder the folder of the executable. */
export function listDiscoveryFolders(programFolder: string, environment: NodeJS.ProcessEnv = process.env): string[] {
  const folders = [programFolder];
  if (process.platform === 'win32') return folders;
  const home = findHome(environment);
  if (process.platform === 'darwin') {
    if (home) folders.push(join(home, 'Library', 'lc0'));
    return folders;
  }
  const own = findXdgFolder('XDG_DATA_HOME', environment);
  if (own !== undefined) folders.push(join(own, 'lc0'));
  if (home) folders.push(join(home, '.local', 'share', 'lc0'));
  const system = environment.XDG_DATA_DIRS || '/usr/local/share/:/usr/share/';
  for (const folder of system.split(':')) if (isAbsolute(folder)) folders.push(join(folder, 'lc0'));
  return folders;
}

/** @returns the path of a network file, or undefined if there is none */
export async function discoverNetwork(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) for await (const path of findNetworks(folder)) return path;
  return undefined;
}

/** All networks of one place, newest first. */
export async function listNetworks(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const path of findNetworks(folder)) paths.push(path);
  return paths;
}

async function* findNetworks(folder: string): AsyncGenerator<string> {
  const candidates = [...(await listLargeFiles(folder)), ...(await listLargeFiles(join(folder, 'networks')))];
  candidates.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs || (a.path < b.path ? 1 : -1));
  for (const { path } of candidates) if (/\.onnx(\.gz)?$/i.test(path) || (await isNetworkFile(path))) yield path;
}

async function listLargeFiles(folder: string): Promise<{ path: string; modifiedAtMs: number }[]> {
  const files: { path: string; modifiedAtMs: number }[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile() && info.size >= MIN_FILE_BYTES) files.push({ path, modifiedAtMs: info.mtimeMs });
  }
  return files;
}

/** Whether a file begins like an lc0 network, gzipped or not. Reads its first kilobyte. */
export async function isNetworkFile(path: string): Promise<boolean> {
  // Loading networks/lc0 takes time, so it is loaded only when a candidate file is found.
  const { hasNetworkHead } = await import('../../networks/lc0/index.js');
  try {
    const bytes = await readFilePart(path, 0, HEAD_BYTES);
    if (!isGzip(bytes)) return hasNetworkHead(bytes);
    return hasNetworkHead(gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }));
  } catch {
    return false;
  }
}
