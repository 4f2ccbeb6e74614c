/** Output of commands: results to stdout, notes and progress to stderr. */
import { createStdoutWriter } from './stdout-writer.js';

/** Whoever reads has had enough (`sardonyx … | head`): that is no error. */
const writer = createStdoutWriter(() => process.exit(0));

export function printLine(line: string): void {
  writer.writeLine(line);
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value));
}

export function printNote(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A number of the command line that must be whole and not below `min`; throws the sentence otherwise. */
export function requireWhole(name: string, value: unknown, min: number): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < min) {
    throw new Error(`--${name} needs a whole number from ${min} up, not ${String(value)}`);
  }
  return number;
}
