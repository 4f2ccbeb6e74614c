/**
 * Chunks of bytes → lines. UTF-8 split across chunks is put together again, `\r\n` counts as `\n`, and a last line
 * without an end is still a line. node:readline is not used: it adds 10 ms to the start and holds lines back.
 */

/** Nothing sensible is longer; a stream without line ends must not fill the memory. */
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
