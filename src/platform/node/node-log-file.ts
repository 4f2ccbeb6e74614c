/**
 * Log lines for people: to a file or to stderr, never to stdout, which belongs to the UCI conversation. Without a target nothing
 * is written. A full file is renamed, and so are its predecessors, so that a bot that runs for weeks keeps the latest lines and
 * does not fill the disk.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import type { Logger, LoggerSettings } from '../platform-ports.js';
import { describeWriteFailure } from './node-files.js';

export type { Logger } from '../platform-ports.js';

/** All files of one log together take at most (KEPT_FILES + 1) times this. */
const MAX_FILE_BYTES = 16 * 2 ** 20;
/** name.1 is the latest of them. */
const KEPT_FILES = 3;

const STDERR = '<stderr>';

export function getLogPath(target: string): string | null {
  return target === '' || target === STDERR ? null : target.replaceAll('%p', String(process.pid));
}

export function createLogger(target: string, settings: LoggerSettings = {}): Logger {
  const { maxFileBytes = MAX_FILE_BYTES } = settings;
  let { onFailure } = settings;
  const stamp = (line: string): string => `${new Date().toISOString()} ${line}\n`;
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
