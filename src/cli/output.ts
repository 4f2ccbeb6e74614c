/** Output of commands: results to stdout, notes and progress to stderr. */
import { type Options, Presets, SingleBar } from 'cli-progress';
import { createStdoutWriter } from './stdout-writer.js';

/** A reader that closes the pipe early (`sardonyx … | head`) is no error. */
const writer = createStdoutWriter(() => process.exit(0));

/** Exit status of a command that was interrupted, the same as shells report after Ctrl-C. */
export const INTERRUPTED = 130;

export function printLine(line: string): void {
  writer.writeLine(line);
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value));
}

export function printNote(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Draws on stderr, and nothing where stderr is no terminal. */
export function createProgressBar(format: string, options: Options = {}): SingleBar {
  return new SingleBar({ format, stream: process.stderr, ...options }, Presets.shades_classic);
}
