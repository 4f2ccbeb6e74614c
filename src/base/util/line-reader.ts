/**
 * Splits chunks of bytes into lines. It joins UTF-8 characters that are split across chunks, treats `\r\n` as `\n`, and returns a
 * last line without a line end too. node:readline is not used, because it adds 10 ms to the start and delays lines.
 */

/** A longer piece without a line end is dropped, so that a stream cannot fill the memory. */
const MAX_LINE_LENGTH = 1 << 20;

export class LineReader {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private rest = '';

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Uint8Array): void {
    const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split('\n');
    this.rest = lines.pop() ?? '';
    if (this.rest.length > MAX_LINE_LENGTH) this.rest = '';
    for (const line of lines) this.onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  end(): void {
    const last = this.rest + this.decoder.decode();
    this.rest = '';
    if (last !== '') this.onLine(last);
  }
}
