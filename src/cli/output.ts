/** Output of commands: results to stdout, notes and progress to stderr. */
import { createStdoutWriter } from './stdout-writer.js';

/** Whoever reads has had enough (`sardonyx … | head`): that is no error. */
const writer = createStdoutWriter(() => process.exit(0));

/** Exit status of a command that was told to stop before its end, as a shell has it after Ctrl-C. */
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
