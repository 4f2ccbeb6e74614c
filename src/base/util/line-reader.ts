/**
 * Splits chunks of bytes into lines. It joins UTF-8 characters that are split across chunks, treats `\r\n` as `\n`, drops byte order
 * marks before lines, and returns a last line without a line end too. node:readline is not used, because it adds 10 ms to the start
 * and delays lines.
 */

/** In characters. */
const LONGEST_LINE = 1 << 20;

/** Whether a line is no line of a conversation. A LineReader cuts it and hands its beginning on, so that a stream cannot fill the memory. */
export function isTooLong(line: string): boolean {
  return line.length > LONGEST_LINE;
}

export class LineReader {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private rest = '';
  /** The beginning of the current line has been handed on, and the rest of it is skipped. */
  private isSkipping = false;

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Uint8Array): void {
    const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.take(line);
    if (!isTooLong(this.rest)) return;
    this.take(this.rest);
    this.isSkipping = true;
    this.rest = '';
  }

  end(): void {
    const last = this.rest + this.decoder.decode();
    this.rest = '';
    if (last !== '') this.take(last);
  }

  private take(line: string): void {
    const isSkipped = this.isSkipping;
    this.isSkipping = false;
    if (isSkipped) return;
    const start = line.startsWith('\ufeff') ? 1 : 0;
    this.onLine(line.slice(start, isTooLong(line) ? start + LONGEST_LINE + 1 : line.endsWith('\r') ? -1 : line.length));
  }
}
