/**
 * Finds the folder of onnxruntime's native files. After `npm install` that is a folder of its package. From inside a packed
 * executable the operating system cannot load them, so they are written to the user's cache at first use, compared byte by byte
 * at every later start, and shared by all engines of that user. The executable itself may be on a read-only disk.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { listCacheFolders, openCacheFolder } from './node-folders.js';
import { isPackaged, readProgramFile } from './node-program-files.js';

/** Set by the main thread for the other threads of this process. A user may set it to the folder of another onnxruntime. */
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
  // Another engine may start at the same moment: each writes a file of its own and renames it; the last one stays.
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, bytes, { mode: 0o700 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    // On Windows a file in use cannot be replaced. It need not be, if another engine wrote the same content.
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
