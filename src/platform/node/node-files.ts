/**
 * Files over node:fs: read by path, with error messages for the user, because Node's own name system calls; tablebases, read
 * synchronously; and log files. As in a page, a `blob:` address is content in memory, and the part after `#` is its name.
 */
import { resolveObjectURL } from 'node:buffer';
import {
  appendFileSync,
  closeSync,
  createReadStream,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { open, readFile as readFromDisk, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

const CHUNK_BYTES = 1 << 20;

const BLOB = 'blob:';

export async function readFile(path: string): Promise<Uint8Array> {
  return path.startsWith(BLOB) ? new Uint8Array(await findBlob(path).arrayBuffer()) : readFromDisk(path);
}

export function streamFile(path: string): AsyncIterable<Uint8Array> {
  if (path.startsWith(BLOB)) return findBlob(path).stream();
  return createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

export async function getFileSize(path: string): Promise<number> {
  return path.startsWith(BLOB) ? findBlob(path).size : (await stat(path)).size;
}

export async function readFilePart(path: string, position: number, length: number): Promise<Uint8Array> {
  if (path.startsWith(BLOB)) {
    return new Uint8Array(
      await findBlob(path)
        .slice(position, position + length)
        .arrayBuffer(),
    );
  }
  const file = await open(path, 'r');
  try {
    const bytes = new Uint8Array(length);
    const { bytesRead } = await file.read(bytes, 0, length, position);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export function getFileName(path: string): string {
  if (!path.startsWith(BLOB)) return basename(path);
  return decodeURIComponent(path.slice(path.indexOf('#') + 1));
}

function findBlob(address: string): Blob {
  const blob = resolveObjectURL(address.split('#')[0]);
  if (blob === undefined) throw Object.assign(new Error(`${address} is gone`), { code: 'ENOENT' });
  return blob as Blob;
}

export function describeReadFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such file');
}

export function describeWriteFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such folder');
}

function describeFailure({ code, message }: NodeJS.ErrnoException, whatIsMissing: string): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return whatIsMissing;
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'that is not permitted';
    case 'ENOSPC':
      return 'the disk is full';
    case 'ELOOP':
      return 'its links lead in a circle';
    case 'ENAMETOOLONG':
      return 'its name is too long';
    case 'EIO':
      return 'the disk reports an error';
    default:
      return message;
  }
}

// Reads tablebase files synchronously, because probes happen in the middle of a search. Throws Node's errors.

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

// Log lines for people: to a file or to stderr, never to stdout, which belongs to the UCI conversation. Without a target nothing
// is written. A full file is renamed, and so are its predecessors, so that a bot that runs for weeks keeps the latest lines and
// does not fill the disk.

export interface Logger {
  log(line: string): void;
}

export interface LoggerSettings {
  readonly maxFileBytes?: number;
  /** Called once, when a line cannot be written. */
  onFailure?(sentence: string): void;
}

/** All files of one log together take at most (KEPT_FILES + 1) times this. */
const MAX_FILE_BYTES = 16 * 2 ** 20;
/** name.1 is the latest of them. */
const KEPT_FILES = 3;

const STDERR = '<stderr>';

/** What files and engines send may hold them; a log is read in a terminal. */
const CONTROLS = /(?!\t)\p{Cc}/gu;

/** The path of the log file; null when the target is not a file. */
export function getLogPath(target: string): string | null {
  return target === '' || target === STDERR ? null : target.replaceAll('%p', String(process.pid));
}

/**
 * @param target '' = silent, '<stderr>' = standard error (lc0's spelling), anything else = a file appended to, in which
 * %p stands for the process id
 */
export function createLogger(target: string, settings: LoggerSettings = {}): Logger {
  const { maxFileBytes = MAX_FILE_BYTES } = settings;
  let { onFailure } = settings;
  const stamp = (line: string): string => `${new Date().toISOString()} ${line.replace(CONTROLS, '\ufffd')}\n`;
  if (target === STDERR) return { log: (line) => void process.stderr.write(stamp(line)) };
  const path = getLogPath(target);
  if (path === null) return { log: () => undefined };
  let sizeBytes: number | null = null;
  return {
    log: (line) => {
      const text = stamp(line);
      const textBytes = Buffer.byteLength(text);
      try {
        sizeBytes ??= measure(path);
        if (sizeBytes > 0 && sizeBytes + textBytes > maxFileBytes) {
          // Another engine that logs to the same file may just have renamed it.
          if (measure(path) + textBytes > maxFileBytes) rotate(path);
          // As if it were empty, if it could not be renamed: the next attempt is as far away.
          sizeBytes = 0;
        }
        appendFileSync(path, text);
        sizeBytes += textBytes;
      } catch (error) {
        // A full or read-only disk must not stop a game. The callback may itself write to this log.
        const tell = onFailure;
        onFailure = undefined;
        tell?.(`LogFile ${path} cannot be written: ${describeWriteFailure(error)}`);
      }
    },
  };
}

function measure(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
  return stats?.size ?? 0;
}

/** A file that another program holds open on Windows keeps its name, and no line is lost: it grows. */
function rotate(path: string): void {
  for (let number = KEPT_FILES - 1; number >= 0; number--) {
    const from = number === 0 ? path : `${path}.${number}`;
    try {
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${number + 1}`);
    } catch {
      return;
    }
  }
}
