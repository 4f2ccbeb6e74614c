/**
 * Writes lines to stdout without waiting for the reader. A client may send many queries before it reads an answer; a program that
 * blocked on its output would then never read them. Lines are queued in memory and written in order.
 */

import { write } from 'node:fs';

const STDOUT = 1;
const RETRY_MS = 2;

export class QueuedWriter {
  private waiting: string[] = [];
  private bytes = Buffer.alloc(0);
  private isWriting = false;
  private isClosed = false;
  private flushed: (() => void)[] = [];

  /** @param onClosed called when the reader has closed the pipe */
  constructor(private readonly onClosed: () => void) {}

  writeLine(line: string): void {
    if (this.isClosed) return;
    this.waiting.push(line);
    this.pump();
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    if (!this.isWriting) return Promise.resolve();
    return new Promise((resolve) => this.flushed.push(resolve));
  }

  private pump(): void {
    if (this.isWriting) return;
    if (this.bytes.length === 0) {
      if (this.waiting.length === 0) {
        for (const resolve of this.flushed.splice(0)) resolve();
        return;
      }
      this.bytes = Buffer.from(`${this.waiting.join('\n')}\n`);
      this.waiting = [];
    }
    this.isWriting = true;
    write(STDOUT, this.bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.goOn(), RETRY_MS);
        return;
      }
      if (error !== null && error !== undefined) {
        this.isClosed = true;
        this.onClosed();
        return;
      }
      this.bytes = this.bytes.subarray(written);
      this.goOn();
    });
  }

  private goOn(): void {
    this.isWriting = false;
    this.pump();
  }
}
