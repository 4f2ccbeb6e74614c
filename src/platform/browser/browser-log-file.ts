/** A page has no log files: what would go to one goes to the browser's console, at its quietest level. */

export interface Logger {
  log(line: string): void;
}

export function getLogPath(_target: string): string | null {
  return null;
}

export function createLogger(target: string): Logger {
  if (target === '') return { log: () => undefined };
  return { log: (line) => console.debug(line) };
}
