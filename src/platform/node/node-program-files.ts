/**
 * Files that come with the program: in the folder of the npm package, or assets inside the packed executable, which are read
 * without disk access. Only this file knows which of the two applies. Also finds the folder of onnxruntime's native files.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listCacheFolders, openCacheFolder } from './node-folders.js';

/** The part of the module node:sea that we use. Older Nodes lack the module. */
interface SingleExecutable {
  isSea(): boolean;
  /** Throws when there is no such asset. */
  getRawAsset(key: string): ArrayBuffer;
}

const executable = process.getBuiltinModule('node:sea') as SingleExecutable | undefined;

/** The program is one executable file. */
export const isPackaged = executable?.isSea() ?? false;

/** The folder of the executable, or that of the npm package. */
export function getProgramFolder(): string {
  return isPackaged ? dirname(process.execPath) : fileURLToPath(new URL('../../../', import.meta.url));
}

/** Whether the program contains this file. @param name path in the package, such as models/default.onnx */
export function hasProgramFile(name: string): boolean {
  return isPackaged ? readAsset(name) !== null : existsSync(getProgramPath(name));
}

/** @returns null when the program does not contain the file. Do not write to it: it may be a view of the executable itself. */
export function readProgramFile(name: string): Uint8Array | null {
  if (isPackaged) return readAsset(name);
  const path = getProgramPath(name);
  return existsSync(path) ? readFileSync(path) : null;
}

/** Where the npm package has this file. It holds each network once: those that pages load lie in `dist/web/models`. */
export function getProgramPath(name: string): string {
  const path = join(getProgramFolder(), name);
  return existsSync(path) ? path : ([join(getProgramFolder(), 'dist', 'web', name)].find(existsSync) ?? path);
}

function readAsset(name: string): Uint8Array | null {
  try {
    return executable === undefined ? null : new Uint8Array(executable.getRawAsset(name));
  } catch {
    return null;
  }
}

// Finds the folder of onnxruntime's native files. After `npm install` that is a folder of its package. From inside a packed
// executable the operating system cannot load them, so they are written to the user's cache at first use, compared byte by byte
// at every later start, and shared by all engines of that user. The executable itself may be on a read-only disk.

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
