/**
 * Where onnxruntime's native files lie. Installed, that is a folder of its package. Packed into one executable, the
 * operating system cannot load them from inside it, so they are laid into the user's cache at first use, verified byte
 * by byte at every later start, and shared by all engines of that user. The executable itself may lie on read-only media.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { listCacheFolders, openCacheFolder } from './node-folders.js';
import { isPackaged, readProgramFile } from './node-program-files.js';

/** Set for the threads of this process, so that one look is enough; a user may point it at another onnxruntime. */
const FOLDER_VARIABLE = 'SARDONYX_NATIVE_FOLDER';
const PREFIX = 'native/';

/** Throws an Error with one sentence when there is no place to put them. */
export function getNativeFolder(): string {
  const known = process.env[FOLDER_VARIABLE];
  if (known !== undefined && known !== '') return known;
  const folder = isPackaged ? layOutNativeFiles() : findInstalledFolder();
  process.env[FOLDER_VARIABLE] = folder;
  return folder;
}

function findInstalledFolder(): string {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  return join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch);
}

function layOutNativeFiles(): string {
  const list = readProgramFile(`${PREFIX}files.json`);
  if (list === null) throw new Error('This executable was packed without onnxruntime');
  const { name, files } = JSON.parse(Buffer.from(list).toString('utf8')) as { name: string; files: string[] };
  const problems: string[] = [];
  for (const cache of listCacheFolders()) {
    try {
      const folder = openCacheFolder(cache, name);
      for (const file of files) layOutFile(join(folder, file), readProgramFile(PREFIX + file) ?? new Uint8Array());
      return folder;
    } catch (error) {
      problems.push(`${cache} (${(error as Error).message})`);
    }
  }
  throw new Error(`No folder can take onnxruntime's files; set SARDONYX_CACHE to one. Tried: ${problems.join(', ')}`);
}

function layOutFile(path: string, bytes: Uint8Array): void {
  if (isSameFile(path, bytes)) return;
  // Another engine may start at the same moment: each writes a file of its own, and the last name wins.
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, bytes, { mode: 0o700 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    // On Windows a file in use cannot be replaced, and needs not be when the other engine wrote the same.
    if (!isSameFile(path, bytes)) throw error;
  }
}

function isSameFile(path: string, bytes: Uint8Array): boolean {
  try {
    return statSync(path).size === bytes.length && Buffer.compare(readFileSync(path), bytes) === 0;
  } catch {
    return false;
  }
}
