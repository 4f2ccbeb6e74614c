/** Output of commands: results to stdout, notes and progress to stderr. */
import { type Options, Presets, SingleBar } from 'cli-progress';
import { formatMegabytes } from '../base/util/index.js';
import { type DownloadWatcher, describeDownload } from '../engine/weights/index.js';
import { createStdoutWriter, writeNote } from './write-output.js';

/** A reader that closes the pipe early (`sardonyx … | head`) is no error. */
export const printLine = createStdoutWriter(() => process.exit());

/** Exit status of a command that was interrupted, the same as shells report after Ctrl-C. */
export const INTERRUPTED = 130;

/** An end that the user asks for (Ctrl-C, or a signal to stop): the work ends in order, and what is done stays. */
export class Interruption {
  private readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;
  private readonly abort = (): void => this.controller.abort();

  /** @param onAbort called when the signal has come */
  constructor(onAbort: () => void = () => undefined) {
    process.once('SIGINT', this.abort).once('SIGTERM', this.abort);
    this.signal.addEventListener('abort', onAbort);
  }

  /** From now on such a signal ends the process again. */
  dispose(): void {
    process.off('SIGINT', this.abort).off('SIGTERM', this.abort);
  }
}

/** For messages: `-` is what another program writes. */
export function nameInput(path: string): string {
  return path === '-' ? 'stdin' : path;
}

/** Number of notes of a list that are printed. */
const MOST_NOTES = 20;

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value));
}

export { writeNote as printNote };

/** Notes about damaged parts of an input. A file of another kind would give one for every line, so most are only counted. */
export class NoteList {
  private readonly lines: string[] = [];
  private dropped = 0;

  add(line: string): void {
    if (this.lines.length < MOST_NOTES) this.lines.push(line);
    else this.dropped++;
  }

  /** Takes the last one, for an error; undefined when there is none. */
  takeLast(): string | undefined {
    return this.lines.pop();
  }

  print(): void {
    for (const line of this.lines) writeNote(line);
    if (this.dropped > 0) writeNote(`${this.dropped} more are not shown`);
  }
}

/** Columns for what stands beside a bar. */
const TEXT_WIDTH = 50;
const SHORTEST_BAR = 10;
const LONGEST_BAR = 40;

/**
 * A bar on stderr, as long as the terminal has room for; a narrow one shows the figures alone. Nothing is drawn if stderr is not a
 * terminal, nor before `start`, whatever is called. A terminal that knows no control sequences (TERM=dumb) gets a line with the figures every two seconds.
 */
export function createProgressBar(format: string, options: Options = {}): SingleBar {
  const { stderr } = process;
  const isDumb = stderr.isTTY && process.env.TERM === 'dumb';
  const room = Math.min(LONGEST_BAR, (stderr.columns ?? 80) - TEXT_WIDTH);
  const figures = format.replace('{bar} ', '');
  return new SingleBar(
    {
      stream: isDumb ? hideTerminal(stderr) : stderr,
      noTTYOutput: isDumb,
      format: isDumb || room < SHORTEST_BAR ? figures : format,
      barsize: Math.max(SHORTEST_BAR, room),
      ...options,
      // Wrapping stays on, so that a line which is too long is cut to the width and not drawn over several.
      linewrap: true,
    },
    Presets.shades_classic,
  );
}

/** A note while a bar may be on the screen, whose line it leaves. */
export function printBesideBar(text: string): void {
  writeNote(process.stderr.isTTY ? `\n${text}` : text);
}

/** To the library that draws the bars, the stream of a dumb terminal is a file. */
function hideTerminal(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return Object.create(stream, { isTTY: { value: false }, write: { value: (text: string) => stream.write(text) } });
}

/** A download on stderr: a bar on a terminal, sentences elsewhere. */
export function createDownloadBar(): DownloadWatcher {
  const notes = describeDownload(writeNote);
  if (!process.stderr.isTTY) return notes;
  const bar = createProgressBar('{bar} {done} of {size} MB, {eta_formatted} left', { etaBuffer: 100 });
  return {
    onStart: notes.onStart,
    onProgress: (doneBytes, totalBytes) => {
      const words = { done: formatMegabytes(doneBytes), size: totalBytes === null ? '?' : formatMegabytes(totalBytes) };
      if (bar.isActive) bar.update(doneBytes, words);
      else bar.start(totalBytes ?? 0, doneBytes, words);
    },
    onEnd: () => bar.stop(),
  };
}
