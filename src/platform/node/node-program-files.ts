/**
 * Files that come with the program. Installed, they lie in the package's folder; packed into one executable, they are
 * assets of it and are read without touching the disk. Only this file knows which of the two it is.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is used of the module node:sea, which older Nodes lack. */
interface SingleExecutable {
  isSea(): boolean;
  /** Throws when there is no such asset. */
  getRawAsset(key: string): ArrayBuffer;
}

const executable = process.getBuiltinModule('node:sea') as SingleExecutable | undefined;

/** The program is one executable file. */
export const isPackaged = executable?.isSea() ?? false;

/** The folder a user sees the program in: that of the executable, or that of the package. */
export function getProgramFolder(): string {
  return isPackaged ? dirname(process.execPath) : fileURLToPath(new URL('../../../', import.meta.url));
}

/** Whether the program was shipped with this file; the name is its path in the package, such as models/default.onnx. */
export function hasProgramFile(name: string): boolean {
  return isPackaged ? readAsset(name) !== null : existsSync(getFileUrl(name));
}

/** @returns null when the program was shipped without it. Read-only: it may be a view of the executable itself. */
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
