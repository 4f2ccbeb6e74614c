/** Config files as lc0 writes them: one `--flag=value` a line, the dashes optional, `#` starts a comment. */
import { readFileSync } from 'node:fs';
import { describeReadFailure, failure, type Result, success } from '../util/index.js';

/** Read where the engine is started, when they exist; lc0's name too, so that its settings are found. */
export const DEFAULT_CONFIG_FILES = ['sardonyx.config', 'lc0.config'];

export function parseConfig(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('-') ? line : `--${line}`));
}

/** @returns the flags of the file; null when it does not exist. */
export function readConfig(path: string): Result<string[]> | null {
  try {
    return success(parseConfig(readFileSync(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return failure(`Cannot read the config file ${path}: ${describeReadFailure(error)}`);
  }
}
