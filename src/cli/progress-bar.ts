import { type Options, Presets, SingleBar } from 'cli-progress';

/** On stderr; it draws nothing where that is no terminal. */
export function createProgressBar(format: string, options: Options = {}): SingleBar {
  return new SingleBar({ format, stream: process.stderr, ...options }, Presets.shades_classic);
}
