/** A page has no log files: log lines go to the browser's console, at level `debug`. */
import type { Logger } from '../platform-ports.js';

export type { Logger } from '../platform-ports.js';

export function getLogPath(_target: string): string | null {
  return null;
}

export function createLogger(target: string): Logger {
  if (target === '') return { log: () => undefined };
  return { log: (line) => console.debug(line) };
}
