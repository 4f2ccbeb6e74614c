/** Reads tablebase files synchronously, because probes happen in the middle of a search. Throws Node's errors. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

export function openFile(path: string): number {
  return openSync(path, 'r');
}

export function closeFile(descriptor: number): void {
  closeSync(descriptor);
}

/** Reads at most `length` bytes from `position` on to the start of `bytes`. */
export function readInto(descriptor: number, bytes: Uint8Array, length: number, position: number): void {
  readSync(descriptor, bytes, 0, length, position);
}

export function readWholeFile(path: string): Uint8Array {
  return readFileSync(path);
}

export function getSize(path: string): number {
  return statSync(path).size;
}

/** Names of the files in a folder. */
export function listFolder(folder: string): string[] {
  return readdirSync(folder);
}

export function joinPath(folder: string, name: string): string {
  return join(folder, name);
}
