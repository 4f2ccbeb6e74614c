/**
 * Files that come with the program: in the folder of the npm package, or assets inside the packed executable, which are read
 * without disk access. Only this file knows which of the two applies.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

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
  return isPackaged ? readAsset(name) !== null : existsSync(getFileUrl(name));
}

/** @returns null when the program does not contain the file. Do not write to it: it may be a view of the executable itself. */
export function readProgramFile(name: string): Uint8Array | null {
  if (isPackaged) return readAsset(name);
  return existsSync(getFileUrl(name)) ? readFileSync(getFileUrl(name)) : null;
}

function readAsset(name: string): Uint8Array | null {
  try {
    return executable === undefined ? null : new Uint8Array(executable.getRawAsset(name));
  } catch {
    return null;
  }
}

function getFileUrl(name: string): URL {
  return new URL(name, new URL('../../../', import.meta.url));
}
