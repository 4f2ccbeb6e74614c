/**
 * Log lines for people: to a file or to stderr, never to stdout, which belongs to the UCI conversation.
 * Without a target it is silent and costs one call.
 */
import { appendFileSync } from 'node:fs';

export interface Logger {
  log(line: string): void;
}

/** @param target '' = silent, '<stderr>' = standard error (lc0's spelling), anything else = a file appended to. */
export function createLogger(target: string): Logger {
  if (target === '') return { log: () => undefined };
  const stamp = (line: string): string => `${new Date().toISOString()} ${line}\n`;
  if (target === '<stderr>') return { log: (line) => void process.stderr.write(stamp(line)) };
  return {
    log: (line) => {
      try {
        appendFileSync(target, stamp(line));
      } catch {
        // A full or read-only disk must not stop a game.
      }
    },
  };
}
